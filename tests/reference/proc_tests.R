# Unpaired tests with Student's t, bootstrap errors and contrasts by pROC: prints
# proc_tests.json. Rscript proc_tests.R > proc_tests.json   (pROC 1.18.0, R 4.2.2)
# The 43 complete patients of DeLong, DeLong & Clarke-Pearson (1988) are those that
# SAS/STAT lists; the same rows stand in sas_delong.json.
suppressMessages(library(pROC)); data(aSAH)
n <- function(v) format(v, digits = 16)
markers <- c("wfns", "s100b", "ndka")
roc_of <- function(m) roc(aSAH$outcome, aSAH[[m]], levels = c("Good", "Poor"), direction = "<", quiet = TRUE)
unpaired <- c(); bootstrap <- c()
for (pair in combn(markers, 2, simplify = FALSE)) {
  t <- roc.test(roc_of(pair[1]), roc_of(pair[2]), paired = FALSE)
  half <- seq_len(nrow(aSAH)) <= 50
  u <- roc.test(roc(aSAH$outcome[half], aSAH[[pair[1]]][half], levels = c("Good", "Poor"), direction = "<", quiet = TRUE),
                roc(aSAH$outcome[!half], aSAH[[pair[2]]][!half], levels = c("Good", "Poor"), direction = "<", quiet = TRUE), paired = FALSE)
  for (k in list(list("all", t), list("halves", u))) unpaired <- c(unpaired, sprintf('["%s", "%s", "%s", %s, %s, %s]', pair[1], pair[2], k[[1]], n(k[[2]]$statistic), n(k[[2]]$parameter), n(k[[2]]$p.value)))
  set.seed(1)
  b <- roc.test(roc_of(pair[1]), roc_of(pair[2]), method = "bootstrap", boot.n = 10000, progress = "none")
  bootstrap <- c(bootstrap, sprintf('["%s", "%s", %s, %s]', pair[1], pair[2], n(b$statistic), n(b$p.value)))
}
power <- c()
for (a in c(.6, .73, .9)) for (k in c(.5, 1.7, 3)) for (alt in c("two.sided", "one.sided")) {
  size <- power.roc.test(auc = a, power = .9, kappa = k, alternative = alt)
  got <- power.roc.test(auc = a, ncases = 40, ncontrols = 40 * k, sig.level = .01, alternative = alt)
  power <- c(power, sprintf('[%s, %s, "%s", %s, %s, %s]', n(a), n(k), sub("one.sided", "greater", sub("two.sided", "two-sided", alt)), n(size$ncases), n(size$ncontrols), n(got$power)))
}
alb <- c(3.0,3.2,3.9,2.8,3.2,0.9,2.5,1.6,3.8,3.7,3.2,3.8,4.1,3.6,4.3,3.6,2.3,4.2,4.0,3.5,3.8,3.0,4.5,3.7,3.1,4.1,4.3,4.3,3.2,2.6,3.3,1.7,3.7,3.3,4.2,3.5,2.9,2.1,2.8,4.0,3.3,3.7,3.6)
tp <- c(5.8,6.3,6.8,4.8,5.8,4.0,5.7,5.6,5.7,6.7,5.4,6.6,6.6,5.7,7.0,6.7,4.4,7.6,6.6,5.8,6.8,4.7,7.4,7.4,6.6,8.2,7.0,6.5,5.1,4.7,6.8,4.0,6.1,6.3,7.7,6.2,5.7,4.8,6.2,7.0,5.7,6.9,6.6)
kg <- c(10,5,3,6,3,5,8,5,5,6,4,6,5,5,4,4,6,4,6,6,7,8,5,5,6,6,5,4,5,6,6,7,5,7,6,5,9,7,8,7,6,5,5)
popind <- c(0,1,1,0,1,0,0,1,1,1,1,1,1,1,1,0,1,0,0,1,1,0,1,1,1,1,1,1,1,1,0,0,1,1,1,1,0,1,0,1,1,1,1)
curves <- lapply(list(alb, tp, 10 - kg), function(s) roc(popind, s, levels = c(0, 1), direction = "<", quiet = TRUE))
S <- matrix(0, 3, 3)
for (i in 1:3) for (j in 1:3) S[i, j] <- if (i == j) var(curves[[i]]) else cov(curves[[i]], curves[[j]])
A <- sapply(curves, function(r) as.numeric(auc(r)))
test <- function(L) { d <- L %*% A; V <- L %*% S %*% t(L); list(est = d, se = sqrt(diag(V)), chi = as.numeric(t(d) %*% solve(V) %*% d), df = nrow(L)) }
show <- function(name, L) { r <- test(L); sprintf('"%s": {"L": [%s], "estimate": [%s], "standard_error": [%s], "chi_square": %s, "df": %d, "pvalue": %s}', name, paste(apply(L, 1, function(v) paste0("[", paste(v, collapse = ", "), "]")), collapse = ", "), paste(n(r$est), collapse = ", "), paste(n(r$se), collapse = ", "), n(r$chi), r$df, n(pchisq(r$chi, r$df, lower.tail = FALSE))) }
contrasts <- c(show("against_kg", rbind(c(1, 0, -1), c(0, 1, -1))), show("mean_against_kg", rbind(c(.5, .5, -1))), show("albumin_protein", rbind(c(1, -1, 0))))
cat(sprintf('{\n "source": "pROC %s: roc.test(paired = FALSE), roc.test(method = \\"bootstrap\\", boot.n = 10000); power.roc.test: auc, kappa, alternative, ncases and ncontrols for power .9, power of 40 cases at sig.level .01; auc, var and cov of three curves, and R\'s solve and pchisq for the contrasts",\n "unpaired": [\n  %s\n ],\n "bootstrap": [\n  %s\n ],\n "power": [\n  %s\n ],\n "auc": [%s],\n "contrasts": {\n  %s\n }\n}\n', packageVersion("pROC"), paste(unpaired, collapse = ",\n  "), paste(bootstrap, collapse = ",\n  "), paste(power, collapse = ",\n  "), paste(n(A), collapse = ", "), paste(contrasts, collapse = ",\n  ")))
