import type { FamilyFork } from '../../forks/rules.js'
import type { BaseFork, OpFork, OpRules } from './opRules.js'

type Changes = Omit<FamilyFork, 'name' | 'timestamp'>

const PAIRING = 8
const G1_MSM = 12
const G2_MSM = 14
const BLS_PAIRING = 15

const OSAKA: Changes['parameters'] = { eip7934: false, p256VerifyGas: 6900 }

/** What forks of the OP stack change in the rules of Ethereum's forks (specs/protocol: exec-engine.md and
 *  precompiles.md of the forks; docs.base.org/base-chain/specs/upgrades for those of Base). P256VERIFY has the price of
 *  RIP-7212 until Karst and Azul, which have what Osaka changes for transactions, instructions and precompiles, and
 *  not its limit of the size of a block. */
const CHANGES: readonly (readonly [fork: OpFork | BaseFork, changes: Changes])[] = [
  ['fjord', { precompiles: [[0x100, 'P256VERIFY']], parameters: { p256VerifyGas: 3450 } }],
  ['granite', { parameters: { precompileMaxInputs: { [PAIRING]: 112_687 } } }],
  [
    'isthmus',
    {
      parameters: {
        precompileMaxInputs: { [PAIRING]: 112_687, [G1_MSM]: 513_760, [G2_MSM]: 488_448, [BLS_PAIRING]: 235_008 },
      },
      lists: { requestContracts: [] },
    },
  ],
  [
    'jovian',
    {
      parameters: {
        precompileMaxInputs: { [PAIRING]: 81_984, [G1_MSM]: 288_960, [G2_MSM]: 278_784, [BLS_PAIRING]: 156_672 },
      },
    },
  ],
  [
    'karst',
    {
      parameters: {
        ...OSAKA,
        precompileMaxInputs: { [PAIRING]: 57_600, [G1_MSM]: 288_960, [G2_MSM]: 278_784, [BLS_PAIRING]: 156_672 },
      },
    },
  ],
  ['azul', { parameters: OSAKA }],
]

/** Returns the forks that change rules of Ethereum's forks, in order. */
export function changedForksOf({ times, baseTimes }: Pick<OpRules, 'times' | 'baseTimes'>): FamilyFork[] {
  const all: { readonly [fork: string]: bigint | undefined } = { ...times, ...baseTimes }
  return CHANGES.flatMap(([name, changes]) => {
    const timestamp = all[name]
    return timestamp === undefined ? [] : [{ name, timestamp, ...changes }]
  })
}
