echo ERROR 0
