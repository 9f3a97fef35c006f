/**
 * Password hashes of other systems with their passwords. They were made with argon2-cffi, bcrypt, passlib, Django, Werkzeug,
 * the C library's crypt(3) and Python's hashlib. The last is a published test of crypt_blowfish.
 */
export interface ForeignVector {
  readonly name: string;
  readonly password: string;
  readonly hash: string;
  /** The last character of the password does not count. */
  readonly isTruncated?: boolean;
}

export const foreignVectors: readonly ForeignVector[] = [
  {
    name: 'argon2i',
    password: 'wombat orbit velvet 42',
    hash: '$argon2i$v=19$m=256,t=2,p=2$c29tZXNhbHQxMjM0NTY3OA$t2TVPKGcFFKEjSsdjyQNIDBRKIoBI/XqWzMBezzKmBA',
  },
  {
    name: 'argon2d',
    password: 'wombat orbit velvet 42',
    hash: '$argon2d$v=19$m=256,t=2,p=2$c29tZXNhbHQxMjM0NTY3OA$y9NbDh6x5/aCribsqCH7VhyjEsVA8eLFKqqhSdhdbUY',
  },
  {
    name: 'argon2id',
    password: 'wombat orbit velvet 42',
    hash: '$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQxMjM0NTY3OA$+UEQR1fv1tgSi34nkv9ZgIX4HdOdqOpOXPJ/eRNekKA',
  },
  {
    name: 'argon2id with a long digest',
    password: 'Straße 🦦 crème brûlée Å',
    hash: '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$7VKQ2wLww/L39M6RgB+m/2P/dugA1Kq+l2EBe6Z4jdNBr0dY4/OQDHOjoGs1SjgyOOFyJkAA2bbE2LD80srw4g',
  },
  {
    name: 'argon2i before versions',
    password: 'wombat orbit velvet 42',
    hash: '$argon2i$m=128,t=3,p=1$c29tZXNhbHQxMjM0NTY3OA$chU88ykIgoyWe41mqyfH+0UkLLkRK6/K',
  },
  {
    name: 'bcrypt $2b',
    password: 'wombat orbit velvet 42',
    hash: '$2b$04$zn44gSweW5tKGohls6RYxOkLASrQVxc.Ge6vBtS4ermrv81nV79.2',
  },
  {
    name: 'bcrypt $2a',
    password: 'wombat orbit velvet 42',
    hash: '$2a$04$zn44gSweW5tKGohls6RYxOkLASrQVxc.Ge6vBtS4ermrv81nV79.2',
  },
  {
    name: 'bcrypt $2y',
    password: 'wombat orbit velvet 42',
    hash: '$2y$04$zn44gSweW5tKGohls6RYxOkLASrQVxc.Ge6vBtS4ermrv81nV79.2',
  },
  {
    name: 'bcrypt of 80 characters',
    password: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    hash: '$2b$04$ipXMJPDVRNIWGjgsKjiAluQ0DHQDWWxShK7DRlRs14zG6SwB9Rgum',
    isTruncated: true,
  },
  {
    name: 'bcrypt, Unicode',
    password: 'Straße 🦦 crème brûlée Å',
    hash: '$2b$05$F7wJoMWwNG5FqmcMqZXENO2Q7mL8Oz0waiCsm1Xw28HFlALCy5xq2',
  },
  {
    name: 'scrypt, PHC (passlib)',
    password: 'wombat orbit velvet 42',
    hash: '$scrypt$ln=8,r=8,p=2$MDEyMzQ1Njc4OWFiY2RlZg$S5lMq+0KxzlY3zG/jmxUSVzWNKOwtgLYHjW30bzuAP0',
  },
  {
    name: 'scrypt, modular crypt',
    password: 'wombat orbit velvet 42',
    hash: '$7$66..../....SodiumChloride$zi0wEsHxIjmWPrc1OnS4ihpglKWothwuUnb.aMasYe3',
  },
  {
    name: 'scrypt, better-auth',
    password: 'Straße 🦦 crème brûlée Å',
    hash: '00112233445566778899aabbccddeeff:f43b7c6c6f3bba32b71ccb7760db82401910bbef7a17e04b50f181e4f9e5029bb848d080d4469da80f604c1187b64a98220ad57c2eb091b522634bce838abad0',
  },
  {
    name: 'pbkdf2-sha1, passlib',
    password: 'wombat orbit velvet 42',
    hash: '$pbkdf2$1200$.//7//v/.//7//v/.//7/w$aArFgagxF8UGEA6MSuyYTg6LuhE',
  },
  {
    name: 'pbkdf2-sha256, passlib',
    password: 'wombat orbit velvet 42',
    hash: '$pbkdf2-sha256$1200$.//7//v/.//7//v/.//7/w$91Ixd9jJpViG1dNLwcv3RZiiEalIG1cJGrAYOB85r5Q',
  },
  {
    name: 'pbkdf2-sha512, passlib',
    password: 'wombat orbit velvet 42',
    hash: '$pbkdf2-sha512$1200$.//7//v/.//7//v/.//7/w$5hgaMtXm7qCUEVZRrI04R2nPKHvWuZ/YBWK4iO/L0caEwrCuXkgFf2o.UJPYu5ALD3UA25O7HXzmGkrp5x6cNg',
  },
  {
    name: 'pbkdf2-sha256, PHC',
    password: 'Straße 🦦 crème brûlée Å',
    hash: '$pbkdf2-sha256$i=1000,l=32$c2FsdHNhbHQ$6f4WX+QeI/aBcte/ckrSSyamd4tlY8kxxgsEKXs1q6I',
  },
  {
    name: 'pbkdf2_sha256, Django',
    password: 'wombat orbit velvet 42',
    hash: 'pbkdf2_sha256$1000$saltsaltsalt$1BgEjyU901WPJIrm20LxmeYm/pMI4OfSvWxoiZORYco=',
  },
  {
    name: 'pbkdf2_sha1, Django',
    password: 'wombat orbit velvet 42',
    hash: 'pbkdf2_sha1$1000$saltsaltsalt$VkHf+SsuZ5hL8aqH+d9w6jo0Zps=',
  },
  {
    name: 'argon2, Django',
    password: 'wombat orbit velvet 42',
    hash: 'argon2$argon2id$v=19$m=128,t=1,p=2$c2FsdHNhbHRzYWx0$3sCp9N3etOJHQNVk5WJWuN26rvg6kmA/Ca3xk6u537I',
  },
  {
    name: 'bcrypt, Django',
    password: 'wombat orbit velvet 42',
    hash: 'bcrypt$$2b$04$T7kMnEgXtQlumzX/H4NrveQolXZHbY.kl26My26LDTbCn5rv9EX5O',
  },
  {
    name: 'scrypt, Django',
    password: 'wombat orbit velvet 42',
    hash: 'scrypt$1024$saltsaltsalt$8$2$Lq9L8tgCVmpKGbegX9u6GOQIf+NVxXICEuQqaAvcEA8lzU4QO9xNtFrJGiNvmgX1JuEeaNK8zSITWUQGmKDvPA==',
  },
  {
    name: 'scrypt, Werkzeug',
    password: 'wombat orbit velvet 42',
    hash: 'scrypt:1024:8:1$ROQMqgYKA2EsE6KP$8a8ff39ad8696df7a62a40b7f1081cf5fedf9dd1391a74c9c0cd19d003480a42cd0121400d6315d5a9bdd97fc6fcb2b34b0622b6920218b75792fa37d0bf0d48',
  },
  {
    name: 'pbkdf2:sha256, Werkzeug',
    password: 'wombat orbit velvet 42',
    hash: 'pbkdf2:sha256:1000$BGq3KYuIEp7kyeQ7$db2b6f29de92e18e073cefccbc08ab503203d3076ce2bea212ecd7c144190c87',
  },
  {
    name: 'bcrypt, crypt_blowfish',
    password: 'U*U',
    hash: '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
  },
];
