import { expect, test } from '@jest/globals'
import pg from 'pg'
import { isRefusal, isTooSlow } from '../../../src/log/shared/postgres/shared-log-session.js'

/** An error of PostgreSQL as the driver gives it, from a server that speaks German. */
const said = (severity: string, code: string) => Object.assign(new pg.DatabaseError('abgelehnt', 0, 'error'), { severity, code })

test.each(['23505', '42501', '53100', '57014', '55P03', '25P02', 'ML001'])(
  'a statement that PostgreSQL refused with the code %s is refused in every language',
  (code) => expect(isRefusal(said('FEHLER', code))).toBe(true),
)

test.each(['57014', '55P03'])('a statement that it gave up with the code %s is told as such in every language', (code) =>
  expect(isTooSlow(said('FEHLER', code))).toBe(true),
)

test.each(['25006', '57P01', '57P02', '57P03', '57P04', '57P05', '25P03', '25P04', '08006', '08P01'])(
  'the code %s of a server that is away, or ends the session, is no refusal in any language',
  (code) => {
    for (const severity of ['ERROR', 'FATAL', 'FEHLER']) expect(isRefusal(said(severity, code))).toBe(false)
  },
)
