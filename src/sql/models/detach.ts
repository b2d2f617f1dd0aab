import { Problem } from '../../errors.js'
import { conjuncts, isTrue } from '../ast/conditions.js'
import type { AstNode } from '../ast/json.js'
import { nodeOf, textOf } from '../ast/nodes.js'

/** A FROM without its models, and the conditions under which they were joined. */
export type Detached = { rest: AstNode | undefined; conditions: AstNode[] }

const refused = (kind: string): Problem =>
  new Problem('refused_statement', 'A model cannot be joined that way', `A model cannot be joined with ${kind}`, {
    hint: 'A model answers for every row: write t JOIN model AS m.',
  })

const checkJoin = (join: AstNode, modelSide: 'left' | 'right', conditions: AstNode[]): void => {
  const type = textOf(join, 'join_type')
  if (type === 'INNER') return
  const keepsRows = (type === 'LEFT' && modelSide === 'right') || (type === 'RIGHT' && modelSide === 'left')
  if (!keepsRows) throw refused(`${type} JOIN`)
  if (conditions.length > 0) throw refused(`${type} JOIN and a condition`)
}

/** Takes the models out of a tree of joins. A model gives one row for each row, so that its join adds only columns. */
export const detach = (ref: AstNode, models: ReadonlySet<AstNode>): Detached => {
  if (models.has(ref)) return { rest: undefined, conditions: [] }
  const [left, right] = [nodeOf(ref, 'left'), nodeOf(ref, 'right')]
  if (textOf(ref, 'type') !== 'JOIN' || !left || !right) return { rest: ref, conditions: [] }
  const [a, b] = [detach(left, models), detach(right, models)]
  const conditions = [...a.conditions, ...b.conditions]
  if (a.rest && b.rest) {
    ref['left'] = a.rest
    ref['right'] = b.rest
    return { rest: ref, conditions }
  }
  const own = conjuncts(nodeOf(ref, 'condition')).filter((condition) => !isTrue(condition))
  if (a.rest ?? b.rest) checkJoin(ref, a.rest ? 'right' : 'left', own)
  return { rest: a.rest ?? b.rest, conditions: [...conditions, ...own] }
}

/** The tables of a tree of joins, from left to right. */
export const leavesOf = (ref: AstNode): AstNode[] => {
  const [left, right] = [nodeOf(ref, 'left'), nodeOf(ref, 'right')]
  return textOf(ref, 'type') === 'JOIN' && left && right ? [...leavesOf(left), ...leavesOf(right)] : [ref]
}
