import { erasures } from './erasures.js'
import { events } from './events.js'
import { outcomes, predictions } from './predictions.js'
import type { Projection } from './projection.js'
import { resourceProjections } from './resources.js'

/** Every projection there is, in the order they are applied. */
export const projections: readonly Projection[] = [events, ...Object.values(resourceProjections).flat(), predictions, outcomes, erasures]
