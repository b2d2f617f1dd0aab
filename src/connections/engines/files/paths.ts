import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { basename, extname, isAbsolute, join, relative, sep } from 'node:path'
import type { JsonObject } from '../../../../events/common.js'
import { Problem, wrong } from '../../../basics/errors.js'
import type { NativeRequest } from '../../contract/requests.js'
import { mayWrite, type Reason } from '../../pushdown/native.js'
import { flagOf, knownParameters, textOf } from '../contract/parameters.js'

const names = ['path', 'file', 'database', 'db_file', 'writable', 'read_only']

/** The path that a connection names, relative to the folder of CONNECTION_FILES. @throws Problem wrong_arguments */
export const readPath = (parameters: JsonObject): string => {
  const given = knownParameters(parameters, names)
  if (flagOf(given, 'writable') === true) throw wrong('Files are only read, and the connection says "writable": true')
  if (flagOf(given, 'read_only') === false) throw wrong('Files are only read, and the connection says "read_only": false')
  const path = textOf(given, 'path') ?? textOf(given, 'file') ?? textOf(given, 'database') ?? textOf(given, 'db_file')
  if (path === undefined)
    throw wrong('The connection has no parameter "path"', 'PARAMETERS = {"path": "shop.db"}, below the folder of CONNECTION_FILES.')
  if (isAbsolute(path) || /^[a-z]+:/i.test(path) || path.includes('\0') || path.split(/[/\\]/).includes('..'))
    throw wrong(
      'The parameter "path" leads out of the folder of CONNECTION_FILES',
      'Name a file below that folder, without ".." and without "/" at the beginning.',
    )
  return path
}

const refused = (detail: string, hint: string): Problem => new Problem('egress_refused', 'Not allowed to read', detail, { hint })

/**
 * Finds a file or folder below the folder that the setting names. Symbolic links on the path, pipes and devices are always refused.
 *
 * @throws Problem egress_refused without the setting and for a refused path, connection_failed for a missing file
 */
export const findPath = (folder: string | undefined, path: string): string => {
  if (folder === undefined)
    throw refused(
      'This service reads no files for connections',
      'The setting CONNECTION_FILES names a folder whose files may be read; the operator of this service can set it.',
    )
  let root: string
  try {
    root = realpathSync(folder)
  } catch {
    throw refused('The folder of CONNECTION_FILES does not exist', 'The operator of this service can create it, or name another one.')
  }
  const whole = join(root, path)
  let real: string
  try {
    real = realpathSync(whole)
  } catch {
    // The connection cannot be opened. That is not the same as a missing table.
    throw new Problem('connection_failed', 'File not found', `The folder of CONNECTION_FILES has no "${path}"`, {
      hint: 'Check the parameter "path".',
    })
  }
  if (whole !== root && !whole.startsWith(root + sep))
    throw refused('The path leads out of the folder of CONNECTION_FILES', 'Name a file below it.')
  if (real !== whole.replace(/[/\\]$/, ''))
    throw refused('The path leads over a symbolic link', 'Put the file itself below the folder of CONNECTION_FILES.')
  // Opening a pipe would wait for a writer.
  const found = lstatSync(real)
  if (!found.isFile() && !found.isDirectory())
    throw refused('The path leads to something that is neither a file nor a folder', 'Name a file below the folder of CONNECTION_FILES.')
  return real
}

/** DuckDB reads a path with one of these signs as a pattern. */
const refusePattern = (file: string): void => {
  const [sign] = /[*?[]/.exec(file) ?? []
  if (sign === undefined) return
  const detail = `The path "${file}" has a "${sign}", so DuckDB would read any file that matches it`
  throw new Problem('connection_failed', 'Not the name of one file', detail, {
    hint: 'Give the file, or the folder with this sign, a name without * ? [.',
  })
}

/**
 * The Parquet files of a path, by the names of their tables: the file itself, or all in the folder.
 *
 * @throws Problem connection_failed for a name that is a pattern
 */
export const parquetFiles = (path: string): ReadonlyMap<string, string> => {
  const files = lstatSync(path).isDirectory() ? readdirSync(path).map((name) => `${path}/${name}`) : [path]
  const found = files.filter((file) => extname(file).toLowerCase() === '.parquet' && lstatSync(file).isFile())
  found.forEach(refusePattern)
  return new Map(found.sort().map((file) => [basename(file, extname(file)), file]))
}

/**
 * The same path in the form that plans and lists of the database show to clients: without the folder. From now on this folder is the
 * working directory of the process.
 *
 * @example pathShown('/srv/data', findPath('/srv/data', 'shop.duckdb')) // 'shop.duckdb'
 */
export const pathShown = (folder: string | undefined, path: string): string => {
  const root = realpathSync(folder ?? '.')
  process.chdir(root)
  const shown = relative(root, path) || '.'
  // At the beginning of a path DuckDB reads a "~" as the home folder.
  return shown.startsWith('~') ? `./${shown}` : shown
}

/**
 * The names in SQLite and DuckDB that reveal where files lie. The first two are pragmas, which can also be read as tables. The last two run
 * a text that a statement puts together.
 */
const places =
  /database_list|(?:temp|data)_store_directory|database_size|current_setting|duckdb_(?:databases|settings|secrets|extensions|temporary_files|external_file_cache|logs)|\bquery(?:_table)?(?="?\s*(?:\(|\/\*|--))/i

/** Why a statement over a file must read. No parameter of the connection changes this. */
const onlyRead: Reason = {
  because: 'files are only read',
  hint: 'Change the file with a program of its database, or keep a copy of the rows here: CREATE TABLE files.name (SELECT …).',
}

/**
 * Checks a statement of the client's own over a file: it reads, and does not ask where the file lies.
 *
 * @throws Problem refused_statement
 */
export const checkNative = (native: NativeRequest): void => {
  mayWrite(native, false, onlyRead)
  const [asked] = places.exec(native.native) ?? []
  if (asked !== undefined)
    throw new Problem('refused_statement', 'Not allowed to read', `The statement names "${asked}", which tells about this service's disk`, {
      hint: 'SHOW TABLES FROM the connection lists its tables. A column with this name is read by SELECT FROM connection.table.',
    })
}
