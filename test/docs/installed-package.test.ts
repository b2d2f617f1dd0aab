import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { repository, runProgram } from '../support/cli.js'
import { trainRent } from '../support/models/rentals.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'

type Manifest = {
  bin?: Record<string, string>
  exports?: Record<string, unknown>
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const checkout = resolve(repository)
const place = temporaryDirectory()
const home = join(place.path, 'home')
const installed = join(home, 'node_modules', 'mindledger')
const program = join(home, 'node_modules', '.bin', 'mindledger')

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The folder of a package of this checkout, as a package in another folder finds it. */
const folderOf = (name: string, from: string): string | undefined => {
  const folder = join(from, 'node_modules', name)
  if (existsSync(folder)) return folder
  return from === checkout ? undefined : folderOf(name, dirname(from))
}

/** Copies what a package depends on, and what that depends on, as an installation does. The checkout lacks packages for other systems. */
const copyDependencies = ({ dependencies, optionalDependencies }: Manifest, from: string): void => {
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = folderOf(name, from)
    if (found === undefined) continue
    const copy = join(home, relative(checkout, found))
    if (existsSync(join(copy, 'package.json'))) continue
    cpSync(found, copy, { recursive: true, filter: (path) => path === found || basename(path) !== 'node_modules' })
    copyDependencies(manifestOf(found), found)
  }
}

// What `npm install` of the packed package makes of an empty folder: the packed files, and the packages that they name.
beforeAll(() => {
  mkdirSync(installed, { recursive: true })
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', place.path], { cwd: checkout, stdio: 'pipe' })
  const [tarball = ''] = readdirSync(place.path).filter((file) => file.endsWith('.tgz'))
  execFileSync('tar', ['-xzf', join(place.path, tarball), '-C', installed, '--strip-components=1'])
  const manifest = manifestOf(installed)
  copyDependencies(manifest, checkout)
  mkdirSync(dirname(program))
  symlinkSync(join(installed, manifest.bin?.['mindledger'] ?? 'none'), program)
  chmodSync(program, 0o755)
})
afterAll(() => place.remove())

test('the installed package serves the console, takes a file, trains, predicts and verifies its log', async () => {
  const data = join(home, 'data')
  const server = await spawnService(data, {}, { program, cwd: home })
  try {
    const { url } = server
    const page = await send(url, 'GET', '/', undefined, { accept: 'text/html,*/*;q=0.8' })
    expect(page).toMatchObject({ status: 200, type: expect.stringContaining('text/html') })
    await trainRent(url)
    const predicted = await send(url, 'POST', '/api/projects/mindsdb/models/rent/predict', [{ sqft: 900, location: 'good', rooms: 1 }])
    expect(predicted).toMatchObject({ status: 200, body: [{ rental_price: expect.any(Number) }] })
    const [{ rental_price: price }] = predicted.body as [{ rental_price: number }]
    const query = "SELECT rental_price FROM mindsdb.rent WHERE sqft = 900 AND location = 'good' AND rooms = 1"
    expect(await sql(url, query)).toMatchObject({ type: 'table', data: [[price]] })
  } finally {
    server.child.kill('SIGTERM')
    await server.ended
  }
  expect(await server.ended).toEqual([0, null])
  // The command as `npx mindledger` finds it.
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const verified = await runProgram(program, ['verify'], { cwd: home, env: { DATA_DIR: data, PATH: path } })
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('The log holds')])
})

test('a program beside it can import every module that the package exports', async () => {
  const modules = Object.keys(manifestOf(installed).exports ?? {}).filter((name) => !name.includes('*') && !name.endsWith('.json'))
  expect(modules.length).toBeGreaterThan(5)
  writeFileSync(join(home, 'program.mjs'), modules.map((name) => `await import('mindledger${name.slice(1)}')\n`).join(''))
  expect(await runProgram(process.execPath, ['program.mjs'], { cwd: home })).toEqual({ code: 0, out: '', err: '' })
})
