module keyreeve

go 1.22
