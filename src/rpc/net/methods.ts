import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { listening, peerCount, version } from './network.js'

/** The `net` namespace, in the order of the reference page. */
export const NET_METHODS: readonly Method[] = [version, listening, peerCount].map(requiringChain)
