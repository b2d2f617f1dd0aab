import { wrong } from '../../../basics/errors.js'
import { classSizes } from '../../data/folds.js'
import type { Target } from '../../data/target.js'

/** The user's class weights: the cost of a missed row of each class. */
export type ClassWeights = 'balanced' | Readonly<Record<string, number>>

const weightsByName = ({ target, classes }: Target, given: Readonly<Record<string, number>>): Float64Array => {
  const names = classes.map(String)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw wrong(
      `class_weights names "${unknown}", which is no class of "${target.name}"`,
      `Its classes: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ' …' : ''}.`,
    )
  return Float64Array.from(names, (name) => (Object.hasOwn(given, name) ? given[name]! : 1))
}

/**
 * One weight per class, in the order of the classes; undefined when none are asked for. `balanced` weighs each class by how much rarer it
 * is than the average one. Problems (`wrong_arguments`): a regression, an unknown class.
 *
 * @example classWeights(task, 'balanced') // two classes of 90 and 10 rows: [.56, 5]
 */
export const classWeights = (task: Target, asked: ClassWeights | undefined): Float64Array | undefined => {
  if (asked === undefined) return undefined
  if (task.kind === 'regression')
    throw wrong(
      `class_weights are for classes, and "${task.target.name}" is predicted as a number`,
      "task = 'classification' makes its values classes.",
    )
  if (asked !== 'balanced') return weightsByName(task, asked)
  const sizes = classSizes(task.labels, task.classes.length)
  return Float64Array.from(sizes, (size) => task.labels.length / (size * sizes.length))
}

/**
 * The predicted class: the one with the largest probability, or with weights the one with the largest probability times weight. The latter
 * has the least expected cost if a missed row of a class costs its weight. If several are equal, it is the first. The probabilities start
 * at `at`.
 */
export const decidedClass = (probabilities: Float64Array, at: number, classes: number, weights: ArrayLike<number> | undefined): number => {
  let best = 0
  let most = -Infinity
  for (let index = 0; index < classes; index++) {
    const worth = weights ? probabilities[at + index]! * weights[index]! : probabilities[at + index]!
    if (worth > most) {
      most = worth
      best = index
    }
  }
  return best
}
