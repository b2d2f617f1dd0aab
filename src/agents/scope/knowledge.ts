import type { AnyResource, Resource, Resources } from '../../log/contract/log.js'
import type { SearchKnowledge } from '../../knowledge/contract/search.js'

/** A knowledge base as an agent knows it: by its name, and by what it says of itself. */
export type NamedBase = { base: Pick<AnyResource, 'stream' | 'version'>; name: string; about?: string }

/** Knowledge bases as agents use them. */
export type Knowledge = {
  /** Those of a project at a position of the log whose names fit a name or a pattern. */
  basesOf: (resources: Resources, project: Resource<'project'>, name: string) => Promise<NamedBase[]>
  search: SearchKnowledge
}
