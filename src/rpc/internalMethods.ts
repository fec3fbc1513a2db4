import type { Method, MethodTable } from './core/method.js'
import { helpWithLogs } from './eth/helpWithLogs.js'
import { readSlice } from './stream/readSlice.js'

/** Methods that reader threads run for the server itself. No client can name them. */
export const INTERNAL_METHODS: MethodTable = new Map(
  [readSlice, helpWithLogs].map((method): [string, Method] => [method.name, method]),
)
