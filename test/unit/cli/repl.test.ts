import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { repl } from '../../../src/cli/terminal/repl.js'
import type { Format } from '../../../src/cli/terminal/sql-session.js'

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

describe('Ctrl-C', () => {
  /** Types into a terminal, each text when the one before it was shown. */
  const typing = async (session: Parameters<typeof repl>[0], steps: readonly (readonly [shown: string, typed: string])[]) => {
    const input = new PassThrough()
    const output = new PassThrough({ encoding: 'utf8' })
    let screen = ''
    const waiting = [...steps]
    output.on('data', (shown: string) => {
      screen += shown
      const [next] = waiting
      if (next && screen.includes(next[0])) {
        waiting.shift()
        screen = ''
        setImmediate(() => input.write(next[1]))
      }
    })
    return repl(session, { input, output, terminal: true })
  }

  test('drops the line that is being typed, and those before it that belong to it', async () => {
    const session = { db: 'shop', format: 'table' as Format, run: async () => 0 }
    const ran = await typing(session, [
      ['shop> ', 'SELECT (1,\r'],
      ['...> ', '2, 3'],
      ['2, 3', '\x03'],
      ['^C', 'SELECT 4;\r'],
      ['shop> ', '\\q\r'],
    ])
    expect(ran).toEqual(['SELECT 4;'])
  })

  test('leaves the statement that is waited for, and those typed behind it', async () => {
    const never = (_: string, signal?: AbortSignal) =>
      new Promise<number>((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    const session = { db: 'shop', format: 'table' as Format, run: never }
    const ran = await typing(session, [
      ['shop> ', 'SELECT 1; SELECT 2;\r'],
      ['SELECT 2;', '\x03'],
      ['cancelled', '\\q\r'],
    ])
    expect(ran).toEqual(['SELECT 1;'])
  })
})
