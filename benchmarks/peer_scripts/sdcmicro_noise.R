# Times sdcMicro's addNoise(method = "additive") on rows x 10 numbers: Rscript sdcmicro_noise.R path/to/addNoise.r rows
# Its file is sourced as it stands; only the class it dispatches on has to exist.
given <- commandArgs(trailingOnly = TRUE)
invisible(setClass("sdcMicroObj", representation("list")))
source(given[1])
set.seed(0)
rows <- as.integer(given[2])
x <- as.data.frame(matrix(rnorm(rows * 10), ncol = 10) %*% matrix(rnorm(100), ncol = 10))
best <- c(Inf, Inf)
for (turn in 1:3) {
  took <- system.time(addNoise(x, noise = 10, method = "additive"))
  best <- pmin(best, c(took[["elapsed"]], took[["user.self"]] + took[["sys.self"]]))
}
cat(best, "\n")
