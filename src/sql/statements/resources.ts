import type { Cursor } from './cursor.js'
import { takeIfExists, takeIfNotExists, takeName } from './names.js'
import type { ResourceKind, StatementOf } from './statement.js'
import { takeSettings } from './values.js'

/** `CREATE SKILL|AGENT|CHATBOT`, these words already taken. */
export const takeCreateResource = (cursor: Cursor, resource: ResourceKind): StatementOf<'create_resource'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeName(cursor)
  cursor.needWords('USING')
  return { kind: 'create_resource', resource, target, ifNotExists, using: takeSettings(cursor) }
}

/** `UPDATE … SET k = v` and `ALTER … USING k = v` say the same; both words go with both. */
export const takeUpdateResource = (cursor: Cursor, resource: ResourceKind): StatementOf<'update_resource'> => {
  const target = takeName(cursor)
  if (cursor.takeOneOf('SET', 'USING') === undefined) cursor.fail()
  return { kind: 'update_resource', resource, target, set: takeSettings(cursor) }
}

export const takeDropResource = (cursor: Cursor, resource: ResourceKind): StatementOf<'drop_resource'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_resource', resource, target: takeName(cursor), ifExists }
}
