import { isObject, mapMembers, type Json, type JsonObject } from '../../../../events/common.js'
import { secretKey, secretsOf } from '../../../../events/secrets.js'
import { isProblem, wrong } from '../../../basics/errors.js'
import { driverOf, engineSpoken } from '../../../catalogue/connection-engines.js'
import { mergeParams } from '../../../commands/rules/params.js'
import { checkParameters } from '../../../connections/engines/check-parameters.js'
import type { LogPayloads, Resource } from '../../../log/contract/log.js'
import { openSecrets } from '../../../vault/seal-secrets.js'
import { sealKey } from '../../../vault/secret-keys.js'

/** The secret itself in the place of a value that a request marks as one, at any depth: 1234 for `{"$seal": 1234}`. */
const unmarked = (parameters: JsonObject): JsonObject =>
  mapMembers(parameters, (value): Json => {
    if (!isObject(value)) return value
    return sealKey in value ? (value[sealKey] ?? null) : unmarked(value)
  })

/**
 * Refuses a new connection with parameters that no database could be opened with. The database itself is not called. A connection that is
 * only recorded may have any.
 *
 * @example checkConnection('postgres', { hots: 'db.example.com' }) // throws: no parameter "hots"
 * @throws Problem wrong_arguments that names the parameter
 */
export const checkConnection = (engine: string, parameters: JsonObject): void => {
  const given = unmarked(parameters)
  checkParameters({ engine: engineSpoken(engine, given), parameters: given })
}

/** The parameters with their secrets; undefined if one of these was erased. */
const opened = async (parameters: JsonObject, log: Pick<LogPayloads, 'payload'>): Promise<JsonObject | undefined> => {
  try {
    return await openSecrets(parameters, (hash) => log.payload(hash))
  } catch (error) {
    if (isProblem(error) && error.code === 'erased') return undefined
    throw error
  }
}

/**
 * The same for a change of a connection: what is kept is checked together with what is new. An erased secret leaves nothing to check. The
 * change may not refer to a secret, because that of another resource would be opened.
 *
 * @throws Problem wrong_arguments that names the parameter
 */
export const checkChangedConnection = async (
  { state }: Pick<Resource<'database'>, 'state'>,
  { engine = state.engine, parameters = {} }: { engine?: string | undefined; parameters?: JsonObject | undefined },
  log: Pick<LogPayloads, 'payload'>,
): Promise<void> => {
  if (secretsOf(parameters).length > 0) throw wrong(`the key "${secretKey}" is reserved`, 'Choose another name for this parameter.')
  if (driverOf(engine) === undefined) return
  const whole = await opened(mergeParams(state.parameters, parameters), log)
  if (whole && Object.keys(whole).length > 0) checkConnection(engine, whole)
}
