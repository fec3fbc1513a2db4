import type { MethodTable } from './core/method.js'
import { readSlice } from './stream/readSlice.js'

/** Methods that reader threads run for the server itself. No client can name them. */
export const INTERNAL_METHODS: MethodTable = new Map([readSlice].map((method) => [method.name, method]))
