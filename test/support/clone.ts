import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { cliFile, freePort, repository, runProgram, type Ended } from './cli.js'
import { spawnService, sql, temporaryDirectory } from './service.js'

const linked = ['node_modules', 'dist', 'package.json']

/** A folder like a clone after `npm ci`, with a service that uses its `data`, and a shell in it. */
export type Clone = { home: string; url: string; shell: (text: string) => Promise<Ended>; stop: () => Promise<void> }

/**
 * Starts the service in a folder as a reader of the docs does. In the shell, `npx mindledger` is the compiled program, and the service's
 * port replaces the port of the docs, also in the variable `at`, which a page sets once for all its blocks.
 *
 * @example const clone = await openClone(); const { code, out } = await clone.shell('npx mindledger head'); await clone.stop()
 */
export const openClone = async (environment: Record<string, string> = {}): Promise<Clone> => {
  const place = temporaryDirectory()
  const home = place.path
  for (const name of linked) symlinkSync(join(repository, name), join(home, name))
  mkdirSync(join(home, 'bin'))
  const npx = `#!/bin/sh\n[ "$1" = mindledger ] || exit 64\nshift\nexec "${process.execPath}" "${cliFile}" "$@"\n`
  writeFileSync(join(home, 'bin', 'npx'), npx)
  chmodSync(join(home, 'bin', 'npx'), 0o755)
  const port = await freePort()
  const server = await spawnService(join(home, 'data'), { PORT: String(port), ...environment })
  // Programs tell their reader that SQL is starting, which only a slow machine shows.
  await sql(server.url, 'SELECT 1')
  const shell = (text: string): Promise<Ended> =>
    runProgram('sh', ['-ec', text.replaceAll('localhost:47334', `localhost:${port}`)], {
      cwd: home,
      env: { PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`, PORT: '', DATA_DIR: '', at: `localhost:${port}`, ...environment },
    })
  const stop = async (): Promise<void> => {
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual([0, null])
    for (const name of linked) rmSync(join(home, name))
    place.remove()
  }
  return { home, url: server.url, shell, stop }
}

/** The standard error without the progress of a training and of reading the log, which only a slow machine shows. */
export const complaints = ({ err }: Ended): string =>
  err.replace(/^(?:(?:\w+\.)*\w+(?:\.\d+)?: \w+(?: \d+ %)?|\d+(?: of \d+)? events)\n/gm, '')

/** The text of a file of the repository. */
export const readSource = (file: string): string => readFileSync(join(repository, file), 'utf8')

/** The fenced blocks of a page, in order: their language and text. */
export const blocksOf = (page: string): { language: string; text: string }[] =>
  [...page.matchAll(/^```([a-z ]*)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({ language, text }))

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A line of output as a page shows it: `…` matches any text, and columns may be wider. */
export const shownLine = (line: string): RegExp =>
  new RegExp(`^${line.trimEnd().split('…').map(escaped).join('.*').replaceAll(/ {2,}/g, ' +')}${line.includes('…') ? '' : '\\s*'}$`, 'm')
