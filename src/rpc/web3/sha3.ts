import { keccak256 } from '../../chain/crypto.js'
import { formatData } from '../../lib/hex.js'
import { defineMethod } from '../core/method.js'
import { data, hash32, required } from '../core/params.js'

export const sha3 = defineMethod({
  name: 'web3_sha3',
  summary: 'Keccak-256 of the data.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [required('data', data, 'what to hash')],
  result: { name: 'hash', schema: hash32.schema },
  errors: [],
  handler: (_context, bytes) => formatData(keccak256(bytes)),
})
