import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { repl } from '../../../src/cli/repl.js'
import type { Format } from '../../../src/cli/sql-session.js'

test('statements end with a semicolon, on any line, and \\q leaves', async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const ran: string[] = []
  const session = { db: 'shop', format: 'table' as Format, run: async (statement: string) => ran.push(statement) }
  input.end("SELECT 1\nAS a; USE files;\nSELECT ';\n';\nhelp\n\\x\n\\q\nSELECT 'not run';\n")
  const said = text(output)
  expect(await repl(session, { input, output, terminal: false })).toEqual(['SELECT 1\nAS a;', 'USE files;', "SELECT ';\n';"])
  output.end()
  expect(ran).toEqual(['SELECT 1\nAS a', 'USE files', "SELECT ';\n'"])
  expect(session.format).toBe('vertical')
  expect(await said).toMatch(/shop> .*\.\.\.> .*Statements end with/s)
})
