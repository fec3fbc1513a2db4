import { bytesToBigInt } from '../../../../lib/bytes.js'

/** Parameters of EIP-1559 in a header from Holocene on. */
export interface FeeParameters {
  readonly denominator: bigint
  readonly elasticity: bigint
  /** Wei; zero before Jovian. */
  readonly minBaseFee: bigint
}

/** Version and length of the extra data of a fork. */
export interface ExtraDataForm {
  readonly version: number
  readonly bytes: number
}

/** Version, denominator and elasticity (specs/protocol/holocene/exec-engine.md). */
export const HOLOCENE_EXTRA_DATA: ExtraDataForm = { version: 0, bytes: 9 }
/** The same and the minimum base fee (specs/protocol/jovian/exec-engine.md). */
export const JOVIAN_EXTRA_DATA: ExtraDataForm = { version: 1, bytes: 17 }

/** Decodes extra data of a form; undefined when it has another length or version, or a zero among denominator and
 *  elasticity. */
export function readExtraData(extraData: Uint8Array, { version, bytes }: ExtraDataForm): FeeParameters | undefined {
  if (extraData.length !== bytes || extraData[0] !== version) return undefined
  const denominator = bytesToBigInt(extraData.subarray(1, 5))
  const elasticity = bytesToBigInt(extraData.subarray(5, 9))
  if (denominator === 0n || elasticity === 0n) return undefined
  return { denominator, elasticity, minBaseFee: bytesToBigInt(extraData.subarray(9)) }
}
