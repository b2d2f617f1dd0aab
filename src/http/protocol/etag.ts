import type { Response } from 'express'
import type { AnyFound } from '../../log/contract/log.js'

/**
 * The strong entity tag of a resource: the version of its stream.
 *
 * @example entityTag(7) // '"7"'
 */
export const entityTag = (version: number): string => `"${version}"`

/**
 * Says in `ETag` which version of a resource an answer shows. The version counts the resource's own events: what a record
 * shows of other resources (`agent_ids`) changes without it, so that no answer is ever a 304.
 *
 * @example tag(res, skill) // ETag: "3"
 */
export const tag = (res: Response, { version }: Pick<AnyFound, 'version'>): void => {
  res.setHeader('ETag', entityTag(version))
}
