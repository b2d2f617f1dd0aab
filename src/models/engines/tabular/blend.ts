const weights = [0, 0.25, 0.5, 0.75, 1]
/** A blend must lower the loss by at least this share. Otherwise the trees alone are used. */
const leastImprovement = 0.002

/** The blend of two numbers: weight 0 is exactly the trees', weight 1 exactly the linear model's. */
export const mixed = (trees: number, linear: number, weight: number): number =>
  weight === 0 ? trees : weight === 1 ? linear : (1 - weight) * trees + weight * linear

/**
 * The weight of the linear model that minimises the loss of the blended out-of-fold predictions.
 *
 * @example chooseWeight((weight) => lossOf(blendedWith(weight))) // 0.25
 */
export const chooseWeight = (lossOf: (weight: number) => number): number => {
  const losses = weights.map(lossOf)
  const best = losses.reduce((least, loss, index) => (loss < losses[least]! ? index : least), 0)
  return losses[best]! < losses[0]! * (1 - leastImprovement) ? weights[best]! : 0
}
