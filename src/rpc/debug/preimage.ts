import { formatData } from '../../lib/hex.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { data, hash32, required } from '../core/params.js'

const UNKNOWN = { code: SERVER_ERROR, message: 'unknown preimage' } as const

export const preimage = defineMethod({
  name: 'debug_preimage',
  summary: 'What has a Keccak-256 hash, among the code, addresses and slots of the state history.',
  description:
    'A slot has 32 bytes. There is no index by hash: addresses and slots are hashed one after another, up to `--call-timeout`.',
  cost: 'evm',
  classes: ['state'],
  params: [required('hash', hash32, 'Keccak-256 hash')],
  result: { name: 'preimage', schema: data.schema },
  errors: [UNKNOWN],
  handler: ({ ranges, deadline }, hash) => {
    const found = ranges.preimage(hash, () => deadline.check())
    if (found === undefined) throw new RpcError(UNKNOWN.code, UNKNOWN.message)
    return formatData(found)
  },
})
