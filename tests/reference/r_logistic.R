# Print r_logistic.json: the logistic report of R on data of its package MASS.
#
# Needs R with MASS and sandwich: Rscript r_logistic.R > r_logistic.json
# Hosmer and Lemeshow's test is ResourceSelection::hoslem.test, step by step in base R.
suppressMessages({library(MASS); library(sandwich)})
options(digits = 15)
exact <- glm.control(epsilon = 1e-13, maxit = 100)

number <- function(v) paste0("[", paste(formatC(v, digits = 15, format = "g"), collapse = ", "), "]")
matrix_ <- function(m) paste0("[", paste(apply(as.matrix(m), 1, number), collapse = ", "), "]")
entry <- function(name, value) paste0('"', name, '": ', value)

hoslem <- function(y, p, g) {
  cut_at <- unique(quantile(p, probs = seq(0, 1, 1 / g)))
  group <- cut(p, breaks = cut_at, include.lowest = TRUE)
  observed <- xtabs(cbind(1 - y, y) ~ group)
  expected <- xtabs(cbind(1 - p, p) ~ group)
  chisq <- sum((observed - expected)^2 / expected)
  c(chisq, nrow(observed), pchisq(chisq, nrow(observed) - 2, lower.tail = FALSE))
}

# Venables and Ripley (2002), section 7.2
budworm <- data.frame(
  ldose = rep(0:5, 2), numdead = c(1, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16),
  sex = factor(rep(c("M", "F"), c(6, 6)))
)
bud <- glm(cbind(numdead, 20 - numdead) ~ sex + ldose - 1, binomial, budworm, control = exact)

birth <- MASS::birthwt
X <- with(birth, cbind(age = age, lwt = lwt, smoke = smoke, ht = ht))
y <- birth$low
fit <- glm(y ~ X, binomial, control = exact)
weight <- 1 + seq_along(y) %% 3
shift <- (seq_along(y) %% 5 - 2) / 2
weighted <- glm(y ~ X, binomial, weights = weight, control = exact)
moved <- glm(y ~ X + offset(shift), binomial, control = exact)
seen <- predict(fit, se.fit = TRUE)
p <- fitted(glm(y ~ X[, 1:2], binomial, control = exact))
other <- plogis(2 * qlogis(p) + 0.3)
slope <- glm(y ~ qlogis(other), binomial, control = exact)
level <- glm(y ~ 1 + offset(qlogis(other)), binomial, control = exact)

# a factor of three levels: the likelihood ratio of drop1, and Wald's test of its dummies
with_race <- glm(y ~ X + factor(birth$race), binomial, control = exact)
without <- drop1(with_race, test = "LRT")
gap <- coef(with_race)[6:7]
wald <- drop(gap %*% solve(vcov(with_race)[6:7, 6:7], gap))

profile_of <- function(f) suppressMessages(confint(f))
cat("{", paste(c(
  entry("version", paste0('"', R.version.string, ", MASS ", packageVersion("MASS"), ", sandwich ", packageVersion("sandwich"), '"')),
  entry("budworm_coef", number(coef(bud))),
  entry("budworm_se", number(sqrt(diag(vcov(bud))))),
  entry("budworm_profile", matrix_(profile_of(bud))),
  entry("X", matrix_(X)), entry("y", number(y)), entry("groups", number(birth$race * 10 + birth$ftv)),
  entry("weight", number(weight)), entry("offset", number(shift)),
  entry("coef", number(coef(fit))), entry("se", number(sqrt(diag(vcov(fit))))),
  entry("profile", matrix_(profile_of(fit))),
  entry("hc0", matrix_(vcovHC(fit, type = "HC0"))),
  entry("hc1", matrix_(vcovHC(fit, type = "HC1"))),
  entry("cluster", matrix_(vcovCL(fit, cluster = birth$race * 10 + birth$ftv, type = "HC1", cadjust = TRUE))),
  entry("weighted_coef", number(coef(weighted))), entry("weighted_se", number(sqrt(diag(vcov(weighted))))),
  entry("offset_coef", number(coef(moved))), entry("offset_se", number(sqrt(diag(vcov(moved))))),
  entry("offset_deviance", number(deviance(moved))),
  entry("predict_logit", number(seen$fit)), entry("predict_se", number(seen$se.fit)),
  entry("p", number(p)), entry("hoslem", number(hoslem(y, p, 10))),
  entry("hoslem_6", number(hoslem(y, round(p, 1), 6))),
  entry("other", number(other)),
  entry("slope", number(summary(slope)$coefficients[, 1:2])),
  entry("level", number(summary(level)$coefficients[, 1:2])),
  entry("race_lr", number(unlist(without[3, c("LRT", "Df", "Pr(>Chi)")]))),
  entry("race_wald", number(c(wald, 2, pchisq(wald, 2, lower.tail = FALSE))))
), collapse = ",\n"), "}\n")
