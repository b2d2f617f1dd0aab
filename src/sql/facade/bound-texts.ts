import { Problem } from '../../basics/errors.js'
import { driverOf, engineSpoken } from '../../catalogue/connection-engines.js'
import { lex, type Token } from '../../dialect/lexer.js'
import { closingBracket, isNameLike, isSymbol, isWord } from '../../dialect/tokens.js'
import type { Resources } from '../../log/contract/log.js'
import { connectionNamed } from '../../log/read/by-name.js'
import type { SqlRequest } from '../contract/request.js'
import { Cursor, literalOf } from '../statements/cursor.js'
import type { Statement, StatementKind } from '../statements/statement.js'

/** The statements that put the values of parameters into the text of a query. */
const binding: ReadonlySet<StatementKind> = new Set<StatementKind>([
  'create_job',
  'create_model',
  'retrain_model',
  'evaluate',
  'create_view',
  'alter_view',
])

/**
 * Refuses a text with a backslash as a parameter in `FROM database (…)`, unless a backslash is an escape in that database as it is here:
 * elsewhere the text would have another value.
 */
export const refuseForeignTexts = async (
  { kind }: Statement,
  { query, params }: SqlRequest,
  resources: Pick<Resources, 'one'>,
): Promise<void> => {
  if (params === undefined || !binding.has(kind)) return
  const tokens = lex(query)
  const cursor = new Cursor(query, tokens, params)
  let next: Token | undefined
  for (let i = tokens.length - 1; i > 0; i--) {
    const token = tokens[i]
    if (token?.kind === 'parameter' && literalOf(cursor.parameterOf(token)).includes('\\')) next = token
    if (!next || !isNameLike(token) || !isWord(tokens[i - 1], 'FROM', 'JOIN') || !isSymbol(tokens[i + 1], '(')) continue
    const close = tokens[closingBracket(tokens, i + 1) ?? tokens.length]
    if (!close || close.start < next.start) continue
    const found = await connectionNamed(resources, token.value)
    const driver = found && driverOf(engineSpoken(found.state.engine, found.state.parameters))
    if (driver !== undefined && driver !== 'mysql')
      throw new Problem(
        'wrong_arguments',
        'Wrong arguments',
        `${next.text} is a text with a backslash, and cannot stand in a query for ${token.value}`,
        { hint: 'Write the text in the query itself, as the database spells it.' },
      )
  }
}
