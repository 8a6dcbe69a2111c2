# Partial areas and cut-offs of the aSAH data by pROC: prints proc_curves.json.
# Rscript proc_curves.R > proc_curves.json   (pROC 1.18.0, R 4.2.2)
suppressMessages(library(pROC)); data(aSAH)
n <- function(v) format(v, digits = 16)
roc_of <- function(m) roc(aSAH$outcome, aSAH[[m]], levels = c("Good", "Poor"), direction = "<", quiet = TRUE)
markers <- c("wfns", "s100b", "ndka")
partial <- c(); variance <- c(); best <- c()
for (m in markers) {
  r <- roc_of(m)
  for (p in list(c(1, .9), c(.9, .8), c(1, .5), c(.73, .41))) for (f in c("specificity", "sensitivity")) for (k in c(FALSE, TRUE)) {
    a <- as.numeric(auc(r, partial.auc = p, partial.auc.focus = f, partial.auc.correct = k, allow.invalid.partial.auc.correct = TRUE))
    range <- if (f == "specificity") 1 - p else rev(p)
    partial <- c(partial, sprintf('["%s", "%s", %s, %s, %s, %s]', m, if (f == "specificity") "fpr" else "tpr", n(range[1]), n(range[2]), tolower(k), n(a)))
  }
  for (f in c("specificity", "sensitivity")) {
    set.seed(1)
    p <- c(1, .5); range <- if (f == "specificity") 1 - p else rev(p)
    v <- var(auc(r, partial.auc = p, partial.auc.focus = f), method = "bootstrap", boot.n = 20000, progress = "none")
    variance <- c(variance, sprintf('["%s", "%s", %s, %s, %s]', m, if (f == "specificity") "fpr" else "tpr", n(range[1]), n(range[2]), n(v)))
  }
  for (w in list(c(1, .5), c(1, .2), c(5, .2), c(2, .3))) for (b in c("youden", "closest.topleft")) {
    co <- coords(r, "best", best.method = b, best.weights = w, ret = c("sensitivity", "specificity"), transpose = FALSE)[1, ]
    best <- c(best, sprintf('["%s", "%s", %s, %s, %s, %s]', m, sub(".topleft", "", b, fixed = TRUE), n(w[1]), n(w[2]), n(co$sensitivity), n(co$specificity)))
  }
}
lines <- function(v) paste0("  ", v, collapse = ",\n")
cat(sprintf('{\n "source": "pROC %s: auc(partial.auc, partial.auc.focus, partial.auc.correct), var(method = \\"bootstrap\\", boot.n = 20000), coords(\\"best\\", best.method, best.weights)",\n "partial": [\n%s\n ],\n "bootstrap_variance": [\n%s\n ],\n "best": [\n%s\n ]\n}\n', packageVersion("pROC"), lines(partial), lines(variance), lines(best)))
