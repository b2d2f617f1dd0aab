import type { Field } from '../../../api/schemas.js'
import { isObject, type Value } from '../../../api/sql.js'
import { valueOf } from './fields.js'

type Members = Record<string, Value>

/** Members that the API merges into the current ones: a key stays unless it is null. */
const merged: ReadonlySet<string> = new Set(['params', 'parameters', 'embedding_model', 'reranking_model'])

/** Members of an agent that are also keys of its params. Null in a body leaves them, null in the params removes them. */
export const alsoInParams: ReadonlySet<string> = new Set(['model', 'data', 'prompt_template'])

/** Members of a job that an empty text removes, because null leaves a member as it is. */
const emptied: ReadonlySet<string> = new Set(['if_query', 'end_at', 'schedule_str'])

/** An object with null for each key that it no longer has. */
const withRemoved = (before: Value | undefined, next: Members): Members =>
  isObject(before) ? { ...Object.fromEntries(Object.keys(before).map((key) => [key, null])), ...next } : next

/** The change for an emptied control. @throws Error for a member that must have a value */
const cleared = ({ name, form }: Field, before: Value | undefined): Members => {
  if (form === 'list') return { [name]: [] }
  if (merged.has(name)) return { [name]: withRemoved(before, {}) }
  if (emptied.has(name)) return { [name]: '' }
  if (alsoInParams.has(name)) return { params: { [name]: null } }
  throw new Error(`${name} cannot be empty. Write another value, or leave it as it was.`)
}

const changeOf = (field: Field, text: string, record: Members | undefined): Members => {
  const { name } = field
  const value = valueOf(field, text)
  if (value === undefined) return record === undefined ? {} : cleared(field, record[name])
  return { [name]: merged.has(name) && isObject(value) ? withRemoved(record?.[name], value) : value }
}

/**
 * The members of a body for the texts that differ from the first ones.
 *
 * @param record the current record of the resource; undefined for a new resource
 * @example changedMembers(fields, { params: '{"a": 1, "b": 2}' }, { params: '{"a": 1}' }, { params: { a: 1, b: 2 } }) // { params: { a: 1, b: null } }
 * @throws Error that explains what a control expects
 */
export const changedMembers = (
  fields: readonly Field[],
  was: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string>>,
  record: Members | undefined,
): Members => {
  const changes = fields.filter(({ name }) => texts[name] !== was[name]).map((field) => changeOf(field, texts[field.name] ?? '', record))
  const params = Object.assign({}, ...changes.map((change) => change['params'])) as Members
  return { ...Object.assign({}, ...changes), ...(Object.keys(params).length > 0 && { params }) } as Members
}
