import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { nodeInfo } from './nodeInfo.js'
import { peers } from './peers.js'

/** The `admin` namespace, in the order of the reference page. */
export const ADMIN_METHODS: readonly Method[] = [nodeInfo, peers].map(requiringChain)
