/**
 * Password hashes of products, with their passwords.
 *
 * Made with passlib: phpass, bcrypt-sha256, sha256-crypt, sha512-crypt, LDAP, Atlassian, md5-crypt, apr1, Django's SHA-1, hexadecimal
 * SHA-2. With Django: bcrypt_sha256. With Spring Security: those of Spring. With Keycloak 25: those of Keycloak.
 *
 * Published: Firebase (README of its scrypt), Drupal 7 and phpass of hashcat (its example hashes).
 *
 * Made with Python's hashlib and bcrypt in the documented form, because no library of the product was at hand: WordPress 6.8,
 * ASP.NET Identity, Ory Kratos, Nextcloud, Discourse, Gitea, 389 Directory Server, Magento.
 */
import type { ForeignVector } from './foreign-hash-vectors.ts';

export const productVectors: readonly ForeignVector[] = [
  { name: 'phpass, WordPress', password: 'wombat orbit velvet 42', hash: '$P$5sFLNVWXipzvglEPVtw/CxIACpgBMR1' },
  { name: 'phpass, Unicode', password: 'Straße 🦦 crème brûlée Å', hash: '$P$68BLDo.e3zYYBzIY3r9qHz6HoswqI21' },
  { name: 'phpass, phpBB 3.0', password: 'wombat orbit velvet 42', hash: '$H$5faie1j.7xfeShyAc7ZyeKh8DVsSxG0' },
  {
    name: 'bcrypt_sha256, Django',
    password: 'wombat orbit velvet 42',
    hash: 'bcrypt_sha256$$2b$04$qsEmDRkx38CA3g3/./yTBuMbDsKeU75aRy1yppoSNMY138u8duJaO',
  },
  {
    name: 'bcrypt_sha256 of 100 characters, Django',
    password: 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyz',
    hash: 'bcrypt_sha256$$2b$04$rH.zvzafDMAseWljw6wjYeksfreaeZ/oBnCTaQXnjLG6Au3Oae8A2',
  },
  {
    name: 'bcrypt-sha256, passlib version 2',
    password: 'Straße 🦦 crème brûlée Å',
    hash: '$bcrypt-sha256$v=2,t=2b,r=4$9Oo0Gxz8XiuO2oK430xn.u$sNTA3OTZErrxGpHjXbovZY/wVUw3EHu',
  },
  {
    name: 'bcrypt-sha256, passlib version 1',
    password: 'wombat orbit velvet 42',
    hash: '$bcrypt-sha256$2b,4$uIrrqPXVtJZ3vtGPoHghWu$0KaqbZsc9AlEOV/XKU8ebymQh8bOAvm',
  },
  {
    name: 'sha256-crypt',
    password: 'wombat orbit velvet 42',
    hash: '$5$rounds=1000$0MaBFCa1kWVVuHjn$bAqVpQqAPIH6BVLLpuV32ZNVAn.KQ5rhPUBfA1H0e17',
  },
  {
    name: 'sha256-crypt with the usual rounds',
    password: 'Straße 🦦 crème brûlée Å',
    hash: '$5$Y/Uz.GRyg9bWsqgz$cs1rQQPeHvStBsLfC2IN6rpotRzzoNL8jh5f2IKvBi8',
  },
  {
    name: 'sha512-crypt',
    password: 'Straße 🦦 crème brûlée Å',
    hash: '$6$rounds=1003$nYbt5B4QAlQ2WR4C$qkZcSSVrkIppZFJBqk1GcZH7TgP6Cbc/pauQ7HalSe97aDUtDb7ClIIyEkA5hNK2Av7jVSHpgw1EYT6oKR/av0',
  },
  {
    name: 'sha512-crypt of 200 characters',
    password:
      'pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp',
    hash: '$6$rounds=1000$5d67sfX334F30p7c$wIyQ6.Z3xZrmHJezAdiPe4ADrVmd50ob/xBCsEoffWW6rNJpLtPhqYWHgW4qaKhnXEJmdr1HYODinYZAw2Iuh0',
  },
  {
    name: 'PBKDF2-SHA256, LDAP',
    password: 'wombat orbit velvet 42',
    hash: '{PBKDF2-SHA256}1000$EwJASMnZ./.fM8b4//./Vw$WWbsetcHk54pvMI0mcp1WoEd52ep.Dpos9NtkcWf7HY',
  },
  {
    name: 'PBKDF2 with SHA-1, LDAP',
    password: 'wombat orbit velvet 42',
    hash: '{PBKDF2}1000$CqFUSokxBuCck/KeU2qtNQ$qbTCWU8bw7.Kmsask3kFTct.aKg',
  },
  {
    name: 'CRYPT, LDAP',
    password: 'wombat orbit velvet 42',
    hash: '{CRYPT}$6$rounds=1000$LLPG4iVlwaKYMIWD$.juOdR4KD7H7zzToLGKSJkDkznGrr4oZl.dBMoVaouqMEqHCr.L0fgax6CQ4JKx0IQObHfTmXQyrU8wCFsIuP0',
  },
  {
    name: 'bcrypt, Spring',
    password: 'wombat orbit velvet 42',
    hash: '{bcrypt}$2a$04$GAGxjsamPddVfOAhtBt14.UxzW9cZ30Ggua3BxhQbzQcOar/RAxIe',
  },
  {
    name: 'Argon2id, Spring',
    password: 'wombat orbit velvet 42',
    hash: '{argon2@SpringSecurity_v5_8}$argon2id$v=19$m=256,t=2,p=1$De2/4YoqyQGki3IrkBeI4w$sv0ORDGj+KldZT1rqcPu7eAzQAJoqGeP8RsRONsUqFI',
  },
  {
    name: 'PBKDF2 with SHA-1, Keycloak',
    password: 'wombat orbit velvet 42',
    hash: '{"type":"password","secretData":"{\\"value\\":\\"cMDGh4E9XeAIPaMYXNcM39hGMu+ppLfXC1B3F6dlwWvXZDINQgNrvYDJJ2Rt0z4Hrb54Pcs3Q3dA4wUT8k43/Q==\\",\\"salt\\":\\"sYhebRzIhUgbhsHQR9DlfA==\\",\\"additionalParameters\\":{}}","credentialData":"{\\"hashIterations\\":1000,\\"algorithm\\":\\"pbkdf2\\",\\"additionalParameters\\":{}}"}',
  },
  {
    name: 'PBKDF2-SHA256, Keycloak',
    password: 'wombat orbit velvet 42',
    hash: '{"secretData":"{\\"value\\":\\"KGQT07562aTIgBh6RJYatWfJjR3hB5p5d8KL7OXFHKyjnA64lhg87xkPdwTikk3BZuQ2ZM6/g2R7/MsM4UTjWA==\\",\\"salt\\":\\"M4SFAB3ViOZYUzZ3aDCZDA==\\",\\"additionalParameters\\":{}}","credentialData":"{\\"hashIterations\\":1000,\\"algorithm\\":\\"pbkdf2-sha256\\",\\"additionalParameters\\":{}}"}',
  },
  {
    name: 'PBKDF2-SHA512, Keycloak',
    password: 'wombat orbit velvet 42',
    hash: '{"secretData":"{\\"value\\":\\"xesXQPUXHXam5dnKePQoZqlrI0H0nprxQ7PifqBfnPFeU8a+MsAMWBjyIUdht6Ie1OMnsnIT0l6uetABaCLESA==\\",\\"salt\\":\\"Sqwo7G/3kVh5AZoVRBBy0g==\\",\\"additionalParameters\\":{}}","credentialData":"{\\"hashIterations\\":1000,\\"algorithm\\":\\"pbkdf2-sha512\\",\\"additionalParameters\\":{}}"}',
  },
  {
    name: 'Argon2id, Keycloak',
    password: 'wombat orbit velvet 42',
    hash: '{"secretData":"{\\"value\\":\\"klHgCljgEOim0vnqJPPWXhrsjfxxJtpZHq0nxbTxPR4=\\",\\"salt\\":\\"3cVSYj6gUk3IdUiTnZjxRQ==\\",\\"additionalParameters\\":{}}","credentialData":"{\\"hashIterations\\":2,\\"algorithm\\":\\"argon2\\",\\"additionalParameters\\":{\\"hashLength\\":[\\"32\\"],\\"memory\\":[\\"256\\"],\\"type\\":[\\"id\\"],\\"version\\":[\\"1.3\\"],\\"parallelism\\":[\\"1\\"]}}"}',
  },
  {
    name: 'PBKDF2-SHA256, Keycloak before 8',
    password: 'wombat orbit velvet 42',
    hash: '{"type":"password","hashedSaltedValue":"KGQT07562aTIgBh6RJYatWfJjR3hB5p5d8KL7OXFHKyjnA64lhg87xkPdwTikk3BZuQ2ZM6/g2R7/MsM4UTjWA==","salt":"M4SFAB3ViOZYUzZ3aDCZDA==","hashIterations":1000,"algorithm":"pbkdf2-sha256"}',
  },
  {
    name: 'bcrypt, WordPress 6.8',
    password: 'wombat orbit velvet 42',
    hash: '$wp$2y$04$.sAy6cQSyjBEe5yHfyJwjeth87iWZfq8e7Ghb6UNtkutFX/qt7F6S',
  },
  {
    name: 'ASP.NET Identity 2',
    password: 'wombat orbit velvet 42',
    hash: 'AAABAgMEBQYHCAkKCwwNDg9A5sC4OrkhfdltLWLnn4USaCl2Bp9sl0hthIRTSj92yw==',
  },
  {
    name: 'scrypt, Ory Kratos',
    password: 'wombat orbit velvet 42',
    hash: '$scrypt$ln=1024,r=8,p=1$AAECAwQFBgcICQoLDA0ODw==$yDelKod5B7ZHgsL0VBwt+QljIisXonPNBBkIiSz+xYg=',
  },
  {
    name: 'Nextcloud',
    password: 'wombat orbit velvet 42',
    hash: '1|$2y$04$P1SwVoROIumnPAYGy0ZHQuZ1XznWneGj/QIGjbG7A4KCa8NNxI/1K',
  },
  {
    name: 'PBKDF2, Discourse',
    password: 'wombat orbit velvet 42',
    hash: '$pbkdf2-sha256$i=1000,l=32$282e2c59c26e0e7846d72d27faa00046$2151ef9e365dac0515d3699f16a12e0c9da7fb601536c46ad0ce2255f5bd550f',
  },
  {
    name: 'PBKDF2, Gitea',
    password: 'wombat orbit velvet 42',
    hash: 'pbkdf2$1000$50$00112233445566778899aabbccddeeff$4da39616793d2c598ef5e95815f4ca6d67707e2558ad5a578401f35c03057e6d188485882b9dd187416a5f30e63a62094272',
  },
  {
    name: 'PBKDF2 with a salt of 10 characters, Gitea',
    password: 'wombat orbit velvet 42',
    hash: 'pbkdf2$1000$50$0123456789$0054dc2c33f191203df9d12a9033fc1b44beefc83dd38e8eae7c701d628c86cb2ce1c97a277b1642fadf34983b99b179b492',
  },
  {
    name: 'scrypt, Gitea',
    password: 'wombat orbit velvet 42',
    hash: 'scrypt$1024$8$1$50$00112233445566778899aabbccddeeff$69a412a48b4430bb6143434c29764aa8ec66c1f71a925b384daa38b45e0f5afc006974984ccffc5814cc0fe1878e864f94fb',
  },
  {
    name: 'PBKDF2-SHA256, 389 Directory Server',
    password: 'wombat orbit velvet 42',
    hash: '{PBKDF2_SHA256}AAAD6AABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj82t6FYoFs574TWuIxHuzT6mgMsNBxyaxpf5ZN65s2RAY1R6YgM9MrWsy9t5IYq3SVf9oksQLK98bkZjbklPA+KzmbN+O+rnIVb2Zy5kjS+dVmP3K0zr8FQTomtyLoo+4dPIX8720k5u4sAsC6NLTeinLct0jqfpojv+TSTluyc2cj4EGAzBUDiIcNwavfKjXegHcW+48AY9ACvNqtD1VkmADKcbbE0+DmcRcSllNYEuqxsMhgdW9NzbPiVc8wVFeiKr0nIw6yeEajHlVZQX3AUgVm2IhT1ChzAR3Bj7H3FYeYTCv4aNrO7aMHg3eEqvjhVnInWchrmPXHhTPfw7Xme',
  },
];

/** They take milliseconds to a second each. */
export const costlyVectors: readonly ForeignVector[] = [
  {
    name: 'ASP.NET Identity 3, SHA-256',
    password: 'Straße 🦦 crème brûlée Å',
    hash: 'AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg/Yty21Nqjd4JpyZbzrYdGvH2+WDor243HZyq5g69/J8w==',
  },
  {
    name: 'ASP.NET Identity 3, SHA-512',
    password: 'wombat orbit velvet 42',
    hash: 'AQAAAAIAAYagAAAAEAABAgMEBQYHCAkKCwwNDg98D3x5Xag3FKI00DeTiRmw7igXZj3294ODDa7MuA/Niw==',
  },
  {
    name: 'PKCS5S2, Atlassian',
    password: 'wombat orbit velvet 42',
    hash: '{PKCS5S2}WguBkFIqZWytNaa09h6jlPd33wC51Gb3emg3FvsceYFryKmyHteMZICL0m4KgEgr',
  },
  {
    name: 'PBKDF2, Spring 5.8',
    password: 'wombat orbit velvet 42',
    hash: '{pbkdf2@SpringSecurity_v5_8}bccc1d4cfbe50b0c5106578f7f0f89174238120cd404b0d320ab6f7495ff7a8e5d9b8d60166c3ef2c9fabc92484e2265',
  },
  {
    name: 'PBKDF2, Spring before 5.8',
    password: 'wombat orbit velvet 42',
    hash: '{pbkdf2}7e37efc7d4f3d49c1ae17e88729fadf5138426dec417aaa9a59622920d7cef0424082136fbb6dfec',
  },
  {
    name: 'scrypt, Spring 5.8',
    password: 'wombat orbit velvet 42',
    hash: '{scrypt@SpringSecurity_v5_8}$100801$5MHQJcLqCJEhd27Kbxq9Rw==$6eVX0X2LhQyH/rKquIrA5oqqtuCfJfJgIIIFbjHUQ/Q=',
  },
  {
    name: 'scrypt, Spring before 5.8',
    password: 'wombat orbit velvet 42',
    hash: '{scrypt}$e0801$P1heNzOaiv+6Ftu9MDLMw2tLKCMxI7vt8k/1W6nWjA1pWy/CjSmaDFZ4yqJFdIKLs7qQF1nuk15mTvKuMpF/+g==$2J9LPO3FzsN0l0dF1fKUpICqQiFf+mzKiQvp5dCSmUQ=',
  },
  {
    name: 'Firebase, as Supabase writes it',
    password: 'user1password',
    hash: '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
  },
  {
    name: 'Firebase, as Ory Kratos writes it',
    password: 'user1password',
    hash: '$firescrypt$ln=14,r=8,p=1$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==$Bw==$jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  },
  {
    name: 'Drupal 7, of hashcat',
    password: 'hashcat',
    hash: '$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf',
  },
  { name: 'phpass, of hashcat', password: 'hashcat', hash: '$P$984478476IagS59wHZvyQMArzfx58u.' },
];

/** They are imported only on request. */
export const fastVectors: readonly ForeignVector[] = [
  { name: 'md5-crypt', password: 'wombat orbit velvet 42', hash: '$1$MnPBP3Mg$.xhosL/llX8KpxKqRrl5./' },
  { name: 'apr1', password: 'Straße 🦦 crème brûlée Å', hash: '$apr1$TDOn8VhP$cwxCdkJL1/vPvgn2khQ4d/' },
  { name: 'SSHA', password: 'wombat orbit velvet 42', hash: '{SSHA}KvYfCHVYW7Pb+MEfj2JbOlxGciS31loL' },
  {
    name: 'SSHA256',
    password: 'Straße 🦦 crème brûlée Å',
    hash: '{SSHA256}6uTN9XlxOU78jnznheusuWkJM76KL5mgPGyJiu7rExuotRZibM2ZMw==',
  },
  {
    name: 'SSHA512',
    password: 'wombat orbit velvet 42',
    hash: '{SSHA512}OF+r1lgVyWN59X2S90cLgOzTL/DFik5i2rrLE57V4kgZjAUU8iTPHiwb2OoLCcB4ri3wX2+1cSOw5DdxyH3cLaZUSonRWgth',
  },
  { name: 'SHA', password: 'wombat orbit velvet 42', hash: '{SHA}zAKn+L+Pj+R0oqYboCYp5qZkSb4=' },
  {
    name: 'sha1, Django',
    password: 'wombat orbit velvet 42',
    hash: 'sha1$C19RFNwU19xo$2a8d311cb65e52b72ef0c7b3704c4d532d0d98a1',
  },
  {
    name: 'SHA-256 in hexadecimal',
    password: 'wombat orbit velvet 42',
    hash: '540bff9a05065634f2028a36adb479f9996ac7866ab0dc65e31f31caec07cf2d',
  },
  {
    name: 'SHA-512 in hexadecimal',
    password: 'wombat orbit velvet 42',
    hash: '5e378464516525421d4897896fab27c1f5371347c0f69bf0905ad85013d3df11a67cbf9ce8a52c248183d7be0b6275fe9216cede66a4fad145135a1ac9f1a0cd',
  },
  {
    name: 'StandardPasswordEncoder, Spring',
    password: 'wombat orbit velvet 42',
    hash: '{sha256}f88531e69a7ae64766c71175965273afe78dd83d937b2e26272609fe53a052ce1a336d1d20f00be2',
  },
  {
    name: 'SHA-256, Spring',
    password: 'wombat orbit velvet 42',
    hash: '{SHA-256}{vK67eP3CJ0GQTgulXPWyz9lJfzaA+fNXhshvoAWwhW4=}6d9c333905834996717b31980768a3a44358fd0cb9da2ebb401f9bcfc110804d',
  },
  {
    name: 'SHA-1, Spring',
    password: 'wombat orbit velvet 42',
    hash: '{SHA-1}{AomL9klw1pkMCz31q5BV2E/G7U4NYSvns5TxRziHYr4=}c1d15a58abdb7826b296edb27d4547e4bf88ad20',
  },
  {
    name: 'SSHA, Spring',
    password: 'wombat orbit velvet 42',
    hash: '{ldap}{SSHA}92SJjYjt5jmqVXFAOtwPvynIV2sKRsymOjJ74g==',
  },
  {
    name: 'SHA-256, Magento',
    password: 'migrate me seven',
    hash: 'a41d233d513769ba7253b6f0b9f9c75edcaec5db55aaf50c96a399572c44dc22:ab:1',
  },
  {
    name: 'SHA-1, Ory Kratos',
    password: 'wombat orbit velvet 42',
    hash: '$sha1$pf=e1NBTFR9e1BBU1NXT1JEfQ==$NW9wc0ZH$jhyaNxvRSJZ5MOQNyvcpzJJYtl0=',
  },
];
