import type { Method } from '../core/method.js'
import { requiringChain } from '../core/requireChain.js'
import { explainLogs } from './explainLogs.js'

/** The `cairn` namespace, in the order of the reference page. */
export const CAIRN_METHODS: readonly Method[] = [requiringChain(explainLogs)]
