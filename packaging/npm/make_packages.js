// Writes the npm packages as folders: `agon-debate`, and the one with the program for a platform.
//
//   node make_packages.js OUT VERSION TARGET PROGRAM
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const [out, version, target, program] = process.argv.slice(2);
const here = __dirname;
const root = path.join(here, "..", "..");
const platforms = JSON.parse(fs.readFileSync(path.join(here, "platforms.json"), "utf8"));
const packageName = ({ os, cpu }) => `@agon-debate/${os}-${cpu}`;

function writePackage(folder, manifest) {
  // A release says where it was built, which npm requires of a package with provenance.
  const repository = process.env.AGON_REPOSITORY;
  if (repository) manifest.repository = { type: "git", url: `git+${repository}.git` };
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) fs.copyFileSync(path.join(root, name), path.join(folder, name));
  fs.writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

function writeMain() {
  const folder = path.join(out, "agon-debate");
  fs.cpSync(path.join(here, "agon-debate"), folder, { recursive: true });
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  manifest.version = version;
  const names = [...new Set(Object.values(platforms).map(packageName))];
  manifest.optionalDependencies = Object.fromEntries(names.map((name) => [name, version]));
  writePackage(folder, manifest);
}

function writePlatform() {
  const platform = platforms[target];
  if (!platform) throw new Error(`platforms.json does not have ${target}`);
  const { os, cpu } = platform;
  const folder = path.join(out, `${os}-${cpu}`);
  fs.mkdirSync(path.join(folder, "bin"), { recursive: true });
  const file = path.join(folder, "bin", os === "win32" ? "agon.exe" : "agon");
  fs.copyFileSync(program, file);
  fs.chmodSync(file, 0o755);
  fs.writeFileSync(
    path.join(folder, "README.md"),
    `The program \`agon\` for ${os} on ${cpu}. Install the package \`agon-debate\`; it needs this one.\n`,
  );
  writePackage(folder, {
    name: packageName(platform),
    version,
    description: `The program agon for ${os} on ${cpu}.`,
    license: "MIT OR Apache-2.0",
    os: [os],
    cpu: [cpu],
    files: ["bin", "LICENSE-APACHE", "LICENSE-MIT", "README.md"],
    preferUnplugged: true,
  });
}

writeMain();
writePlatform();
