import type { Method } from '../core/method.js'
import { content, contentFrom, inspect, status } from './pool.js'

/** The `txpool` namespace, in the order of the reference page. */
export const TXPOOL_METHODS: readonly Method[] = [content, contentFrom, inspect, status]
