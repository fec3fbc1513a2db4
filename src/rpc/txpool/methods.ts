import type { Method } from '../core/method.js'
import { content } from './content.js'
import { contentFrom } from './contentFrom.js'
import { inspect } from './inspect.js'
import { status } from './status.js'

/** The `txpool` namespace, in the order of the reference page. */
export const TXPOOL_METHODS: readonly Method[] = [content, contentFrom, inspect, status]
