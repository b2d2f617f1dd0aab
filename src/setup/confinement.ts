import { compiledFile } from './package.js'

/** The start options of a process that gives up rights: flags of Node, and additional environment variables. */
export type Confinement = { execArgv: string[]; env: Record<string, string> }

/**
 * The remaining rights of a process: the paths where it may change files, the paths where it may remove empty directories, and whether it
 * may use TCP.
 */
export type KeptRights = { writable: readonly string[]; emptiable?: readonly string[]; tcp?: boolean }

/**
 * Returns the start options of a process that keeps these rights, and gives up all other rights over files and TCP before its program runs.
 * The process may read everything. Paths that do not exist yet are left out. This works on Linux; on other systems the process keeps all
 * its rights.
 *
 * @example fork(file, [], confined({ writable: ['/data/tables'] }))
 */
export const confined = ({ writable, emptiable = [], tcp = false }: KeptRights): Confinement => ({
  execArgv: ['--require', compiledFile('setup/give-up-writing.cjs')],
  env: {
    WRITABLE_PATHS: JSON.stringify([...writable, '/dev/null']),
    EMPTIABLE_PATHS: JSON.stringify(emptiable),
    ...(tcp && { KEEPS_TCP: 'true' }),
  },
})
