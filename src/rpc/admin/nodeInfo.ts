import { type ConfigValue, formatGenesisConfig } from '../../chain/eth/genesisConfig.js'
import { formatData } from '../../lib/hex.js'
import { defineMethod, JsonBytes } from '../core/method.js'
import { hash32, text } from '../core/params.js'

export const nodeInfo = defineMethod({
  name: 'admin_nodeInfo',
  summary: 'Name of the server and configuration of its chain, in the shape of a node.',
  description:
    "For tools that read a chain's configuration from it: `protocols.eth` has `network` (the chain id), `genesis` (absent where " +
    "block 0 is not stored), `config` in the format of geth's genesis file, and `head`. Cairn has no peers and no identity among " +
    'them: `id`, `enode` and `enr` are empty, ports are 0.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: {
    name: 'node',
    schema: {
      type: 'object',
      properties: {
        ...{ id: text.schema, name: text.schema, enode: text.schema, enr: text.schema, ip: text.schema },
        ports: { type: 'object' },
        listenAddr: text.schema,
        protocols: {
          type: 'object',
          properties: {
            eth: {
              type: 'object',
              properties: {
                network: { type: 'integer' },
                genesis: hash32.schema,
                config: { type: 'object' },
                head: hash32.schema,
              },
            },
          },
        },
      },
    },
  },
  errors: [],
  handler: ({ chain, clientVersion }) => {
    const genesis = chain.blockHash(0)
    const eth = {
      network: chain.chainId(),
      ...(genesis && { genesis: formatData(genesis) }),
      config: formatGenesisConfig(chain.spec()),
      head: formatData(chain.headHash()!),
    }
    const none = { id: '', name: clientVersion, enode: '', enr: '', ip: '0.0.0.0' }
    const info = { ...none, ports: { discovery: 0n, listener: 0n }, listenAddr: '', protocols: { eth } }
    return new JsonBytes(Buffer.from(writeJson(info)))
  },
})

/** JSON in which integers of any size are numbers, as in a genesis file. */
function writeJson(value: ConfigValue): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`)
  return `{${members.join(',')}}`
}
