import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { getHeaderByNumber } from './getHeaderByNumber.js'

/** The methods of the `erigon` namespace that Otterscan requests. */
export const ERIGON_METHODS: readonly Method[] = [getHeaderByNumber].map(requiringChain)
