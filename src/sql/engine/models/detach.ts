import { Problem } from '../../../basics/errors.js'
import { conjuncts, isTrue } from '../ast/conditions.js'
import type { AstNode } from '../ast/json.js'
import { nodeOf, textOf, textsOf } from '../ast/nodes.js'

/**
 * A FROM without its models, and the conditions that joined them. The conditions of a LEFT JOIN keep every row, so they can only give
 * inputs. `using` has the columns that USING names.
 */
export type DetachedFrom = { rest: AstNode | undefined; conditions: AstNode[]; keeping: AstNode[]; using: string[] }

const refused = (kind: string, hint: string): Problem =>
  new Problem('refused_statement', 'A model cannot be joined that way', `A model cannot be joined with ${kind}`, { hint })

/** The words of a join: its kind, or its way to match rows. */
const nameOf = (join: AstNode): string => {
  const how = textOf(join, 'ref_type')
  return `${how === 'ASOF' || how === 'POSITIONAL' ? how : textOf(join, 'join_type')} JOIN`
}

/** Whether the join of models with a table gives each row of the table once. */
const keepsRows = (join: AstNode, modelSide: 'left' | 'right'): boolean => {
  const type = textOf(join, 'join_type')
  if (['ASOF', 'POSITIONAL'].includes(textOf(join, 'ref_type'))) return false
  return type === 'INNER' || (type === 'LEFT' && modelSide === 'right') || (type === 'RIGHT' && modelSide === 'left')
}

/** Whether a join may replace the rows of one side with NULLs, or hide this side. */
const hidesSide = (join: AstNode, side: 'left' | 'right'): boolean => {
  switch (textOf(join, 'join_type')) {
    case 'INNER':
      return textOf(join, 'ref_type') === 'POSITIONAL'
    case 'LEFT':
    case 'SEMI':
    case 'ANTI':
      return side === 'right'
    case 'RIGHT':
      return side === 'left'
    default:
      return true
  }
}

const checkHidden = (join: AstNode, side: 'left' | 'right'): void => {
  if (!hidesSide(join, side)) return
  throw refused(
    `a table inside the side of a ${nameOf(join)} that may have no row`,
    'Score in a subquery: … JOIN (SELECT t.*, m.target FROM t JOIN model AS m) AS s ON ….',
  )
}

/** Removes the models from a tree of joins. A model gives one row for each row, so its join only adds columns. */
export const detach = (ref: AstNode, models: ReadonlySet<AstNode>): DetachedFrom => {
  const none = { conditions: [], keeping: [], using: [] }
  if (models.has(ref)) return { rest: undefined, ...none }
  const [left, right] = [nodeOf(ref, 'left'), nodeOf(ref, 'right')]
  if (textOf(ref, 'type') !== 'JOIN' || !left || !right) return { rest: ref, ...none }
  const [modelsLeft, modelsRight] = [left, right].map((side) => leavesOf(side).some((leaf) => models.has(leaf)))
  const [a, b] = [detach(left, models), detach(right, models)]
  const below = {
    conditions: [...a.conditions, ...b.conditions],
    keeping: [...a.keeping, ...b.keeping],
    using: [...a.using, ...b.using],
  }
  if (a.rest && b.rest) {
    if (modelsLeft) checkHidden(ref, 'left')
    if (modelsRight) checkHidden(ref, 'right')
    ref['left'] = a.rest
    ref['right'] = b.rest
    return { rest: ref, ...below }
  }
  if ((a.rest ?? b.rest) && !keepsRows(ref, a.rest ? 'right' : 'left'))
    throw refused(nameOf(ref), 'A model has no rows of its own and answers for every row: write t JOIN model AS m.')
  const own = conjuncts(nodeOf(ref, 'condition')).filter((condition) => !isTrue(condition))
  return {
    rest: a.rest ?? b.rest,
    conditions: [...below.conditions, ...own],
    keeping: textOf(ref, 'join_type') === 'INNER' ? below.keeping : [...below.keeping, ...own],
    using: [...below.using, ...textsOf(ref, 'using_columns')],
  }
}

/** The tables of a tree of joins, from left to right. */
export const leavesOf = (ref: AstNode): AstNode[] => {
  const [left, right] = [nodeOf(ref, 'left'), nodeOf(ref, 'right')]
  return textOf(ref, 'type') === 'JOIN' && left && right ? [...leavesOf(left), ...leavesOf(right)] : [ref]
}

/** The tables of a tree of joins that show every row unchanged, never NULLs instead of it. */
export const steadyLeaves = (ref: AstNode): AstNode[] => {
  const [left, right] = [nodeOf(ref, 'left'), nodeOf(ref, 'right')]
  if (textOf(ref, 'type') !== 'JOIN' || !left || !right) return [ref]
  return [...(hidesSide(ref, 'left') ? [] : steadyLeaves(left)), ...(hidesSide(ref, 'right') ? [] : steadyLeaves(right))]
}
