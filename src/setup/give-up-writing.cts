/**
 * Takes the right to change files from a process, before its program runs. Landlock, a part of Linux, lets a process permanently restrict
 * its own rights, and those of threads and processes that it starts afterwards. This file is loaded with `--require`, because the loader of
 * ES modules starts threads, which would keep the earlier rights.
 *
 * WRITABLE_PATHS has the paths that stay writable, as a JSON array; below EMPTIABLE_PATHS empty directories may be removed. With KEEPS_TCP,
 * the rights over TCP are not restricted.
 * CONFINEMENT tells the program the result: `landlock`, or which rights were not given up, and why.
 */
import fs = require('node:fs')
import modules = require('node:module')

type Call = (...values: unknown[]) => number
type Koffi = { load: (file: null) => { func: (declaration: string) => Call }; errno: () => number }

/** The numbers of these system calls are the same on every processor that Node supports. */
const [createRuleset, addRule, restrictSelf] = [444, 445, 446]
const [versionFlag, ruleBeneathPath, setNoNewPrivileges, pathOnly] = [1, 1, 38, 0o10000000]

/** Rights to change the content of files: writing, and, since version 3, truncating. */
const contentRights = (version: number): bigint => (1n << 1n) | (version >= 3 ? 1n << 14n : 0n)

/**
 * The same, and the rights over directories: removing, making, and, since version 2, linking from elsewhere. Reading and executing are not
 * restricted.
 */
const allRights = (version: number): bigint => contentRights(version) | (0x1ffn << 4n) | (version >= 2 ? 1n << 13n : 0n)

/** Binding and connecting TCP sockets, since version 4. */
const networkRights = (version: number): bigint => (version >= 4 && process.env['KEEPS_TCP'] === undefined ? 3n : 0n)

/** Abstract Unix sockets, and signals to processes outside, since version 6. */
const scopes = (version: number): bigint => (version >= 6 ? 3n : 0n)

/** What Landlock of an older kernel leaves allowed. */
const leftBy = (version: number): string[] => [
  ...(version < 3 ? ['the truncation of files (Linux 6.2)'] : []),
  ...(version < 4 && process.env['KEEPS_TCP'] === undefined ? ['TCP connections (Linux 6.7)'] : []),
  ...(version < 6 ? ['signals to other processes (Linux 6.12)'] : []),
]

const removeDirectory = 1n << 4n

const pathsIn = (variable: string): string[] => JSON.parse(process.env[variable] ?? '[]') as string[]

const giveUp = (): string => {
  if (process.platform !== 'linux') return 'this system has no Landlock'
  // The package `koffi` has an install script, and npm asks about those. Its compiled half is a package for each processor, without one.
  const koffi = modules.createRequire(__filename)(`@koromix/koffi-linux-${process.arch}`) as Koffi
  const library = koffi.load(null)
  const create = library.func('long syscall(long, void *, size_t, uint32_t)')
  const checked = (what: string, result: number): number => {
    if (result >= 0) return result
    throw new Error(`${what} failed with error ${koffi.errno()}`)
  }
  const version = create(createRuleset, null, 0, versionFlag)
  if (version < 1) return 'this kernel has no Landlock'
  const handled = Buffer.alloc(24)
  ;[allRights(version), networkRights(version), scopes(version)].forEach((rights, i) => handled.writeBigUInt64LE(rights, i * 8))
  const rules = checked('creating the rules', create(createRuleset, handled, handled.length, 0))
  const add = library.func('long syscall(long, int, int, void *, uint32_t)')
  const allow = (path: string, rights: bigint): void => {
    const fd = fs.openSync(path, pathOnly)
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(rights)
    rule.writeInt32LE(fd, 8)
    checked(`allowing ${path}`, add(addRule, rules, ruleBeneathPath, rule, 0))
    fs.closeSync(fd)
  }
  for (const path of pathsIn('WRITABLE_PATHS').filter(fs.existsSync))
    allow(path, fs.statSync(path).isDirectory() ? allRights(version) : contentRights(version))
  for (const path of pathsIn('EMPTIABLE_PATHS').filter(fs.existsSync)) allow(path, removeDirectory)
  const prctl = library.func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)')
  checked('keeping privileges away', prctl(setNoNewPrivileges, 1, 0, 0, 0))
  checked('giving up rights', library.func('long syscall(long, int, uint32_t)')(restrictSelf, rules, 0))
  fs.closeSync(rules)
  const left = leftBy(version)
  return left.length === 0 ? 'landlock' : `Landlock ${version} of this kernel does not forbid ${left.join(', ')}`
}

try {
  process.env['CONFINEMENT'] = giveUp()
} catch (error) {
  process.env['CONFINEMENT'] = error instanceof Error ? error.message : String(error)
}
