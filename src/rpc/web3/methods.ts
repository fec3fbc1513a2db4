import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { clientVersion } from './clientVersion.js'
import { sha3 } from './sha3.js'

/** The `web3` namespace, in the order of the reference page. */
export const WEB3_METHODS: readonly Method[] = [clientVersion, sha3].map(requiringChain)
