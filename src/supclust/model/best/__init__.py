"""`recipe=best`: a start in closed form, trained from there only where that generalises.

Points: the map and alpha that are best in cross-validation over clusters; training from there is
one more candidate, which must be clearly better. Pairs: logistic regression with the best alpha of
the grid, then trained, unless that is clearly worse: with a pull towards the regression, or, of
few blocks, as in the paper where that is better in cross-validation. Boosted trees: their log
odds, then a linear stage on log odds and features where that is better.
"""
