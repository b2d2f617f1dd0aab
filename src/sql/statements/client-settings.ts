import { Problem } from '../../basics/errors.js'
import { isEngineSetting } from './client/duckdb-settings.js'
import { serverVariable } from '../../dialect/server-variables.js'
import type { Token } from '../../dialect/lexer.js'
import { clientVariables } from './client/client-variables.js'
import type { LeadingWords, Cursor } from './cursor.js'
import type { Form, Topic } from './forms.js'
import { takeActivate } from './models.js'
import { nameFollows, takePart } from './names.js'
import type { StatementOf } from './statement.js'

type ClientSetting = StatementOf<'client_setting'>

/** The names on the left side of a SET: `SET names utf8, @@autocommit = 1` → names and @@autocommit. */
const takeVariables = (cursor: Cursor): Token[] => {
  const variables: Token[] = []
  let begins = true
  let depth = 0
  for (const token of cursor.takeRest()) {
    if (token.kind === 'symbol') depth += '([{'.includes(token.text) ? 1 : ')]}'.includes(token.text) ? -1 : 0
    if (begins && /^(?:session|global|local|persist|persist_only)$/i.test(token.text)) continue
    if (begins && token.kind !== 'symbol') variables.push(token)
    begins = depth === 0 && token.kind === 'symbol' && token.text === ','
  }
  return variables
}

/** Refuses a variable of the client's own, because the service would have to keep it until the next statement. */
export const keptNowhere = (cursor: Cursor, token: Token | undefined): never =>
  cursor.refuse(token, 'variables are not kept between statements', 'Send the value as a parameter: :name, and "params" beside it.')

/** The name of a variable that a client may set for itself. For any other variable, the answer "ok" would wrongly say that it was set. */
const needClientVariable = (cursor: Cursor, token: Token): string => {
  const { name } = serverVariable(token.value)
  if (token.kind === 'variable' && !token.text.startsWith('@@')) return keptNowhere(cursor, token)
  if (isEngineSetting(name))
    throw new Problem('refused_statement', 'Settings are fixed', `SET ${name} is not possible: settings of the SQL engine are fixed`, {
      hint: 'USE chooses the database of names without one; docs/operate/settings.md lists what the service is started with.',
    })
  if (clientVariables.has(name)) return name
  return cursor.refuse(token, `there is no variable ${name} that could be set`, 'SHOW VARIABLES lists those that clients ask for.')
}

/** `SET active m.2`, `SET model_active = m.2`, and variables of clients, which have no effect here. */
const takeSet = (cursor: Cursor): StatementOf<'activate_model'> | ClientSetting => {
  if (cursor.isWord('ACTIVE') && nameFollows(cursor, 1)) {
    cursor.next()
    return takeActivate(cursor)
  }
  if (cursor.isWord('MODEL_ACTIVE') && cursor.isSymbol('=', 1)) {
    cursor.next()
    cursor.next()
    return takeActivate(cursor)
  }
  if (cursor.peek()?.kind !== 'word' && cursor.peek()?.kind !== 'variable' && !nameFollows(cursor)) {
    cursor.expect('a variable')
    cursor.fail()
  }
  const start = cursor.peek()
  if (cursor.isWord('SHOW_SECRETS') && cursor.isSymbol('=', 1) && !/^(?:0|false|off)$/i.test(cursor.peek(2)?.value ?? ''))
    cursor.refuse(start, 'secrets are never shown', 'Keep the secret where it came from; here it can be replaced, not read.')
  return { kind: 'client_setting', verb: 'set', variables: takeVariables(cursor).map((token) => needClientVariable(cursor, token)) }
}

/** `USE [DATABASE|SCHEMA] project`, the word USE already taken. */
const takeUse = (cursor: Cursor): StatementOf<'use'> => {
  cursor.takeOneOf('DATABASE', 'SCHEMA')
  return { kind: 'use', name: takePart(cursor, 'a project') }
}

/** BEGIN, START TRANSACTION, COMMIT and ROLLBACK have no effect: each statement is its own transaction. */
const takeTransaction = (cursor: Cursor, { verb }: LeadingWords): ClientSetting => {
  cursor.takeRest()
  return { kind: 'client_setting', verb: verb === 'COMMIT' ? 'commit' : verb === 'ROLLBACK' ? 'rollback' : 'begin', variables: [] }
}

export const clientSettings = {
  use: { effect: 'reads', forms: [{ verb: 'USE', usages: { USE: 'USE project' }, take: takeUse }] },
  client_setting: {
    effect: 'reads',
    forms: [
      { verb: 'SET', usages: { 'SET ACTIVE': 'SET active [project.]model.version' }, take: takeSet },
      { verb: 'START', nouns: { TRANSACTION: null }, take: takeTransaction },
      ...['BEGIN', 'COMMIT', 'ROLLBACK'].map((verb): Form => ({ verb, usages: {}, take: takeTransaction })),
    ],
  },
  activate_model: { effect: 'writes', forms: 'client_setting' },
} satisfies Topic
