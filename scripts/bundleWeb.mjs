// Builds src/web, the page for browsers, into dist/web with Vite, and compresses what it built: the server sends files
// as they lie there. The page needs no other host and no inline script.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { writeContained } from './contained.mjs'
import { ROOT } from './ensure.mjs'

const outDir = join(ROOT, 'dist', 'web')
/** Smaller files are not worth a header. */
const COMPRESSED_ABOVE_BYTES = 512

const { output } = await build({
  configFile: false,
  root: join(ROOT, 'src', 'web'),
  base: './', // behind a proxy the page may lie below a path
  publicDir: false,
  logLevel: 'warn',
  resolve: { extensions: ['.tsx', '.ts', '.js'] },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the Content-Security-Policy allows no data: URLs
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})

// What was dropped as unused has no length.
const modules = output.flatMap((chunk) => Object.entries(chunk.modules ?? {}))
writeContained(
  outDir,
  modules.filter(([, { renderedLength }]) => renderedLength > 0).map(([path]) => path),
)

const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
  if (!/\.(html|js|css|svg)$/.test(name)) continue
  const path = join(outDir, name)
  const bytes = readFileSync(path)
  if (bytes.length <= COMPRESSED_ABOVE_BYTES) continue
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: quality }))
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
}
