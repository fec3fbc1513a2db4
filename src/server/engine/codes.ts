import type { EngineReason } from '../../sync/engine/errors.js'

/** Codes and names of the Engine API's errors (Engine API, common definitions), and of JSON-RPC's. */
export const ENGINE_ERROR_CODES: {
  readonly [reason in EngineReason]: { readonly code: number; readonly title?: string }
} = {
  'unknown method': { code: -32601 },
  'invalid params': { code: -32602, title: 'Invalid params' },
  internal: { code: -32603, title: 'Internal error' },
  'unknown payload': { code: -38001, title: 'Unknown payload' },
  'invalid fork choice': { code: -38002, title: 'Invalid forkchoice state' },
  'invalid attributes': { code: -38003, title: 'Invalid payload attributes' },
  'too large request': { code: -38004, title: 'Too large request' },
  'unsupported fork': { code: -38005, title: 'Unsupported fork' },
  'too deep reorg': { code: -38006, title: 'Too deep reorg' },
}
