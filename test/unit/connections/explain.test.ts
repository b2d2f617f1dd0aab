import { expect, test } from '@jest/globals'
import pg from 'pg'
import { noSecrets } from '../../../src/connections/engines/contract/parameters.js'
import { explainPostgres } from '../../../src/connections/engines/postgres/explain.js'
import { reasonToRead } from '../../../src/connections/pushdown/native.js'

test.each([
  ['57014', 'ProcessInterrupts', 'выполнение оператора отменено по запросу пользователя', 'query_limit', /^It took too long/],
  ['57014', 'CopyGetData', 'ошибка при COPY FROM stdin: nothing is copied', 'query_failed', /^Files are not copied/],
  ['42601', 'exec_parse_message', 'kann nicht mehrere Befehle in vorbereitete Anweisung einfügen', 'query_failed', /^Send one statement/],
  ['42601', 'scanner_yyerror', 'Syntaxfehler bei »FRM«', 'query_failed', /^EXPLAIN SELECT/],
])('an error of PostgreSQL (%s of %s) means the same in every language', (code, routine, message, ours, hint) => {
  const error = Object.assign(new pg.DatabaseError(message, message.length, 'error'), { severity: 'FEHLER', code, routine })
  const problem = explainPostgres(noSecrets, reasonToRead(false))(error)
  expect(problem.code).toBe(ours)
  expect(problem.extras.hint).toMatch(hint)
})
