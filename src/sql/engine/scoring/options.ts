import { Problem } from '../../../basics/errors.js'
import { checkLevel } from '../../../models/engines/tables/interval.js'
import type { Token } from '../../../dialect/lexer.js'
import { similarName } from '../../../dialect/names.js'

/** What a query asks of its models: `level` is that of the intervals, the model's own when it is not given. */
export type ScoringOptions = { level?: number }

/** The effect of each option, by name. Rows are scored in parts of a fitting size, so that partition_size has nothing to say. */
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
 * @throws Problem that names an option that does not exist; wrong_arguments for a level that is out of range
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
