import { Problem } from '../../../basics/errors.js'
import { checkLevel } from '../../../models/engines/contract/confidence-level.js'
import type { Token } from '../../../dialect/lexer.js'
import { similarName } from '../../../dialect/names.js'

/** The options that a query gives its models: `level` is the level of the intervals; if it is missing, the model's own level counts. */
export type ScoringOptions = { level?: number }

/**
 * The effect of each option, by name. The service chooses the size of the parts in which rows are scored, so partition_size has no effect.
 */
const options: Readonly<Record<string, (value: Token) => ScoringOptions>> = {
  confidence: ({ kind, value }) => ({ level: checkLevel(kind === 'number' ? Number(value) : value) }),
  partition_size: () => ({}),
}

const known = Object.keys(options)

const unreadable = (detail: string, name = '') => {
  const like = similarName(name, known)
  return new Problem('bad_statement', 'No such option', detail, {
    hint: `${like === undefined ? '' : `Did you mean ${like}? `}A query's USING takes confidence = 0.95, the level of the intervals.`,
  })
}

/**
 * Reads `key = value, …` behind the USING of a query.
 * @throws Problem that names an unknown option; wrong_arguments for a level that is out of range
 *
 * @example readScoringOptions(lex('confidence = 0.5')) // { level: 0.5 }
 */
export const readScoringOptions = (tokens: readonly Token[]): ScoringOptions => {
  let read: ScoringOptions = {}
  for (let i = 0; i < tokens.length; i += 4) {
    const [name, equals, value, comma] = tokens.slice(i, i + 4)
    const key = name?.value.toLowerCase() ?? ''
    const option = Object.hasOwn(options, key) ? options[key] : undefined
    if (!option) throw unreadable(`USING has no option ${name?.value ?? ''}`, key)
    const isPair = equals?.text === '=' && value && value.kind !== 'symbol' && (comma === undefined || comma.text === ',')
    if (!isPair) throw unreadable(`USING needs a value for ${key}`)
    read = { ...read, ...option(value) }
  }
  return read
}
