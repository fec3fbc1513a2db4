import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { getHeaderByNumber } from './getHeaderByNumber.js'

/** What Otterscan asks for of the `erigon` namespace. */
export const ERIGON_METHODS: readonly Method[] = [requiringChain(getHeaderByNumber)]
