import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { packagePath } from '../src/store/open.js'

/* `npm run docs:picture`: makes docs/images/page.png, the picture of the README. It runs `npm start` with a data
 * directory of its own and takes a picture of the log explorer. Needs Chromium (`/usr/bin/chromium`, or `CHROMIUM`). */

const PICTURE = packagePath('docs/images/page.png')
const SIZE = { width: 1200, height: 1000 }
const VIEW = 'logs?address=0xed01f80b3b7f874af79e90e91e4ccca7fce24344'

const folder = mkdtempSync(join(tmpdir(), 'cairn-picture-'))
const server = spawn(process.execPath, [packagePath('scripts/start.mjs'), '--port', '0'], {
  env: { ...process.env, CAIRN_DATADIR: join(folder, 'data') },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const address = await pageAddress()
  const browser = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
    viewport: SIZE,
    colorScheme: 'light',
  })
  const page = browser.pages()[0]
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goto(`${new URL(address).origin}/#/${VIEW}`)
  await page.getByRole('button', { name: 'Search and explain' }).click()
  await page.getByRole('heading', { name: 'Conditions' }).waitFor()
  mkdirSync(packagePath('docs/images'), { recursive: true })
  await page.screenshot({ path: PICTURE })
  await browser.close()
} finally {
  server.kill()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** The address of the page with its key, as `npm start` prints it. */
function pageAddress(): Promise<string> {
  let printed = ''
  return new Promise((resolve, reject) => {
    server.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text
      const found = /^ +page +(\S+)$/m.exec(printed)
      if (found !== null) resolve(found[1])
    })
    server.on('exit', () => reject(new Error(`npm start ended without the address of the page:\n${printed}`)))
  })
}
