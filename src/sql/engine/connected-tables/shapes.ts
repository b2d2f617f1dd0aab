import { foldName } from '../../../../events/common.js'
import type { AnswerColumn } from '../../../connections/contract/types.js'
import type { AstNode } from '../ast/json.js'
import { textsOf } from '../ast/nodes.js'
import { aliasOf } from '../session/describe.js'

/** A column of a query or table; `numbers` is set for numbers that come as texts. */
export type Column = Pick<AnswerColumn, 'name'> & { numbers?: AnswerColumn['numbers'] | undefined }

/** The columns of a query or table. `isWhole`: these are all of them, in their order. */
export type Shape = { columns: readonly Column[]; isWhole: boolean }

/** A table of a FROM as expressions see it. */
export type Relation = Shape & { alias: string; byName: ReadonlyMap<string, Column> }

/** The columns of a table that is not known. */
export const unknownShape: Shape = { columns: [], isWhole: false }

const byNameOf = (columns: readonly Column[]): ReadonlyMap<string, Column> =>
  new Map([...columns].reverse().map((column) => [foldName(column.name), column]))

/** A table of a FROM, under its alias and the new names of its columns. */
export const relationOf = (ref: AstNode, { columns: own, isWhole }: Shape): Relation => {
  const aliases = isWhole ? textsOf(ref, 'column_name_alias') : []
  const columns = own.map((column, i) => ({ ...column, name: aliases[i] ?? column.name }))
  return { alias: foldName(aliasOf(ref)), columns, isWhole, byName: byNameOf(columns) }
}

/** The columns of queries below each other. A column is a number if it is one in any of them, and its texts may then differ in form. */
export const merged = (shapes: readonly Shape[]): Shape => {
  const [first = unknownShape, ...others] = shapes
  const columns = first.columns.map((column, i): Column => {
    const same = others.map(({ columns: own, isWhole }) =>
      isWhole && first.isWhole ? own[i] : own.find(({ name }) => foldName(name) === foldName(column.name)),
    )
    return [column, ...same].some((each) => each?.numbers !== undefined) ? { ...column, numbers: 'free' } : column
  })
  const isWhole = shapes.every((each) => each.isWhole)
  const more = isWhole ? [] : others.flatMap(({ columns: own }) => own.filter(({ numbers }) => numbers !== undefined))
  return { columns: [...columns, ...more], isWhole }
}
