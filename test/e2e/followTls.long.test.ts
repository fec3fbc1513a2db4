import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { serveFixture, spawnCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { temporaryDirectory } from '../support/temporary.js'
import { startTlsProxy, TEST_CERTIFICATE } from '../support/upstream/tlsProxy.js'

const upstream = await serveFixture({ after })

for (const scheme of ['https', 'wss']) {
  test(`an upstream is followed over ${scheme}, and not without a certificate that is trusted`, async (t) => {
    const port = await startTlsProxy(t, Number(new URL(upstream.url).port))
    const certificate = join(temporaryDirectory(t), 'certificate.pem')
    writeFileSync(certificate, TEST_CERTIFICATE)
    const sync = (env: { [name: string]: string }) => {
      const args = ['sync', '--datadir', temporaryDirectory(t), '--genesis', join(FIXTURE_FOLDER, 'genesis.json')]
      return spawnCairn([...args, '--upstream', `${scheme}://127.0.0.1:${port}`], env)
    }
    const trusted = sync({ NODE_EXTRA_CA_CERTS: certificate })
    await trusted.waitFor('stderr', new RegExp(`"upstreamBlock":${HEAD},.*"msg":"following"`))
    const untrusted = sync({})
    await untrusted.waitFor('stderr', /self-signed certificate|DEPTH_ZERO_SELF_SIGNED_CERT/)
    for (const { child, ended } of [trusted, untrusted]) {
      child.kill('SIGTERM')
      const { code, stderr } = await ended
      assert.equal(code, 0, stderr)
    }
  })
}
