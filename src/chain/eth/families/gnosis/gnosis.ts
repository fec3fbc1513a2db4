import { formatData } from '../../../../lib/hex.js'
import { keccak256 } from '../../../crypto.js'
import { hashHeader, headerFields } from '../../header.js'
import { encodeRlp, type RlpInput } from '../../rlp.js'
import type { Header } from '../../types.js'
import { ethereum } from '../ethereum.js'
import type { Family } from '../family.js'
import { formatGnosisConfig, readGnosisConfig } from './gnosisConfig.js'
import { gnosisExecution } from './gnosisExecution.js'

/** Gnosis Chain and Chiado after their merge, and development chains like them. Blocks before it are sealed by
 *  Authority Round, and have other fields. */
export const gnosis: Family = {
  ...ethereum,
  name: 'gnosis',
  title: 'Gnosis',
  chosenBy: '--network gnosis or chiado, or --genesis with config.aura',
  notFromGenesis:
    'Authority Round seals the blocks before the merge, which Cairn does not execute; --state sparse or none begins ' +
    'at any block after it',
  execution: gnosisExecution,
  hasOtherGenesis: true,
  hashHeader: (header) => (header.number === 0 ? keccak256(encodeRlp(encodedFields(header))) : hashHeader(header)),
  encodedFields,
  blockMembers: ({ number }) => (number === 0 ? { step: '0x0', signature: formatData(NO_SEAL) } : {}),
  verifyHeader: (header, context) => {
    if (!context.rules.isProofOfStake) {
      context.refuse(
        'difficulty',
        '0: blocks before the merge, sealed by Authority Round, are refused',
        header.difficulty,
      )
    }
    ethereum.verifyHeader(header, context)
  },
  forkKeys: ['balancerHardforkTime'],
  readConfig: readGnosisConfig,
  formatConfig: formatGnosisConfig,
}

const MIX_HASH = 13
const NONCE = 14
const NO_STEP = new Uint8Array(0)
const NO_SEAL = new Uint8Array(65)

/** The fields of a header: block 0 has a step and a seal of Authority Round, both zero, in place of mix hash and
 *  nonce. */
function encodedFields(header: Header): RlpInput[] {
  const fields = headerFields(header)
  if (header.number > 0) return fields
  fields[MIX_HASH] = NO_STEP
  fields[NONCE] = NO_SEAL
  return fields
}
