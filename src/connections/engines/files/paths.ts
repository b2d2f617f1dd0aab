import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { basename, extname, isAbsolute, join, sep } from 'node:path'
import type { JsonObject } from '../../../../events/common.js'
import { Problem, wrong } from '../../../basics/errors.js'
import { flagOf, knownParameters, textOf } from '../contract/parameters.js'

const names = ['path', 'file', 'database', 'db_file', 'writable']

/** The path that a connection names, relative to the folder of CONNECTION_FILES. @throws Problem wrong_arguments */
export const readPath = (parameters: JsonObject): string => {
  const given = knownParameters(parameters, names)
  if (flagOf(given, 'writable') === true) throw wrong('Files are only read, and the connection says "writable": true')
  const path = textOf(given, 'path') ?? textOf(given, 'file') ?? textOf(given, 'database') ?? textOf(given, 'db_file')
  if (path === undefined)
    throw wrong('The connection has no parameter "path"', 'PARAMETERS = {"path": "shop.db"}, below the folder of CONNECTION_FILES.')
  if (isAbsolute(path) || /^[a-z]+:/i.test(path) || path.includes('\0') || path.split(/[/\\]/).includes('..'))
    throw wrong(
      'The parameter "path" leads out of the folder of CONNECTION_FILES',
      'Name a file below that folder, without "..", and not from "/" on.',
    )
  return path
}

const refused = (detail: string, hint: string): Problem => new Problem('egress_refused', 'Not allowed to read', detail, { hint })

/**
 * Finds a file or folder below the folder that the setting names. A symbolic link on the way is refused, wherever it leads; so are pipes and
 * devices.
 *
 * @throws Problem egress_refused without the setting and for what is refused, connection_failed for a file that is not there
 */
export const findPath = (folder: string | undefined, path: string): string => {
  if (folder === undefined)
    throw refused(
      'This service reads no files for connections',
      'The setting CONNECTION_FILES names a folder whose files may be read; whoever runs this service sets it.',
    )
  let root: string
  try {
    root = realpathSync(folder)
  } catch {
    throw refused('The folder of CONNECTION_FILES is not there', 'Whoever runs this service makes it, or names another one.')
  }
  const whole = join(root, path)
  let real: string
  try {
    real = realpathSync(whole)
  } catch {
    // It is the connection that cannot be opened, and not a table that is not there.
    throw new Problem('connection_failed', 'File not found', `The folder of CONNECTION_FILES has no "${path}"`, {
      hint: 'Check the parameter "path".',
    })
  }
  if (whole !== root && !whole.startsWith(root + sep))
    throw refused('The path leads out of the folder of CONNECTION_FILES', 'Name a file below it.')
  if (real !== whole.replace(/[/\\]$/, ''))
    throw refused('The path leads over a symbolic link', 'Put the file itself below the folder of CONNECTION_FILES.')
  // Opening a pipe would wait for whoever writes into it.
  const found = lstatSync(real)
  if (!found.isFile() && !found.isDirectory())
    throw refused('The path leads to something that is neither a file nor a folder', 'Name a file below the folder of CONNECTION_FILES.')
  return real
}

/** The Parquet files that a path stands for, by the names of their tables: the file itself, or those in the folder. */
export const parquetFiles = (path: string): ReadonlyMap<string, string> => {
  const files = lstatSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path]
  const found = files.filter((file) => extname(file).toLowerCase() === '.parquet' && lstatSync(file).isFile())
  return new Map(found.sort().map((file) => [basename(file, extname(file)), file]))
}
