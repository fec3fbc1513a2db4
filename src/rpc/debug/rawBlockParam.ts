import { blockId, required } from '../core/params.js'

/** The block parameter of the raw methods; `pending` is the head. */
export const rawBlockParam = required('block', blockId, 'block number, tag, hash, or EIP-1898 object')
